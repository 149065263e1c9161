import InMemoryLogging
import Logging
import Postgres
import Storage
import TestKit
import Testing

/// What limits leave behind.
@Suite("Limits: traces", .database)
struct LimitTraceTests {
    @Test(
        "a refusal is counted and logged by the limit's name, without an address; expired counts are swept",
        .database
    )
    func leavesTraces() async throws {
        try await LimitScene.run { service in
            for _ in 0..<11 {
                _ = try await service.signIn("ada.secret@example.com", "wrong", from: "198.18.27.77")
            }
            let lines = service.logs.entries.filter { $0.metadata["error.cause"] == "limit.passwordTries" }
            #expect(lines.count == 1)
            #expect(
                !service.logs.entries.contains { "\($0)".contains("ada.secret") || "\($0)".contains("198.18.27.77") }
            )
            let stored: [[UInt8]] = try await TestDatabase.current.client.query("SELECT key FROM rate_limits") {
                try $0.next()
            }
            #expect(stored.count == 3 && stored.allSatisfy { $0.count == 32 })
            service.clock.advance(by: 3_601)
            #expect(try await service.sweep() == 3)
        }
    }
}
