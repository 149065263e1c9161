import Postgres
import Storage
import TestKit
import Testing

@Suite("Readings of the configuration", .database, .serialized)
struct SharedReadingTests {
    @Test("T-E11: those that are wanted during one share the next, with and without batches", arguments: [true, false])
    func areShared(batches: Bool) async throws {
        var options = TestService.Options()
        options.batches = batches
        try await TestService.run(options) { service in
            let (count, _) = try await StatementCount.during {
                let tasks = try await TestDatabase.current.client.transaction { transaction in
                    // The first one waits for a table, and the others for its end.
                    try await transaction.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
                    let tasks = (0..<50).map { _ in Task { try await service.stores.configuration.load() } }
                    try await waitUntil {
                        service.stores.batchCounts.contains { $0.name == "configuration" && $0.counts.waiting == 49 }
                    }
                    return tasks
                }
                for task in tasks { try await task.value }
            }
            let readings = count.statements.filter { $0.text.hasPrefix("SELECT key, project FROM api_keys") }
                .reduce(0) { $0 + $1.calls }
            #expect(readings == 2, "\(count)")
        }
    }
}
