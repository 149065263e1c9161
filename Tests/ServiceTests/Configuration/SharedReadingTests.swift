import Storage
import TestKit
import Testing

@Suite("Readings of the configuration", .database)
struct SharedReadingTests {
    @Test("T-E11: those that are wanted at the same time are one, with and without batches")
    func areShared() async throws {
        for batches in [true, false] {
            var options = TestService.Options()
            options.batches = batches
            try await TestService.run(options) { service in
                let (count, _) = try await StatementCount.during {
                    try await inParallel(50) { _ in try await service.stores.configuration.load() }
                }
                let readings = count.statements.filter { $0.text.hasPrefix("SELECT key, project FROM api_keys") }
                    .reduce(0) { $0 + $1.calls }
                #expect((1...5).contains(readings), "\(count)")
            }
        }
    }
}
