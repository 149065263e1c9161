import Development
import Postgres
import Projects
import Storage
import TestKit
import Testing

@Suite("Queries that examine all accounts", .database, .serialized, .timeLimit(.minutes(10)))
struct BusyQueryTests {
    enum Request: String, CaseIterable, Sendable {
        case count, list, statistics

        func send(_ service: TestService) async throws -> Reply {
            switch self {
            case .count: try await service.admin("accounts:query", ["returnUserInfo": false])
            case .list: try await service.admin("accounts:query", ["offset": "1"])
            case .statistics: try await service.admin("providers:stats")
            }
        }
    }

    @Test(
        "T-E11: one project's queries take one connection; the others wait without, or are refused",
        arguments: Request.allCases
    )
    func leavesConnections(_ request: Request) async throws {
        try await TestService.run { service in
            let (refused, done, others) = (Counter(), Counter(), Counter())
            let (held, end) = (TestGate(), TestGate())
            defer { end.open() }
            async let holder: Void = TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE")
                held.open()
                await end.pass()
            }
            await held.pass()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let reply = try await request.send(service)
                        if reply.status == 503 { refused.increment() } else { done.increment() }
                    }
                }
                // One is in the database, eight wait.
                try await waitUntil { refused.value == 11 }
                group.addTask {
                    try await service.stores.database.execute("SELECT 1")
                    others.increment()
                }
                try await waitUntil { others.value == 1 }
                #expect(done.value == 0)
                end.open()
                try await group.waitForAll()
            }
            try await holder
            #expect(refused.value == 11 && done.value == 9)
        }
    }
}
