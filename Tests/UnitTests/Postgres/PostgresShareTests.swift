import Postgres
import Synchronization
import TestKit
import Testing

@Suite("PostgreSQL: shares of the queue", .database, .timeLimit(.minutes(10)))
struct PostgresShareTests {
    /// Statements that wait for the one connection, and the order in which they got it.
    private final class Queue: Sendable {
        let client: PostgresClient
        private let order = Mutex<[String]>([])
        private let tasks = Mutex<[Task<Void, any Error>]>([])

        init(limit: Int) {
            var configuration = PostgresClient.Configuration.patient(TestDatabase.current.conninfo, connections: 1)
            configuration.queueLimit = limit
            client = PostgresClient(quietly: configuration)
        }

        func ask(_ name: String, of share: String?) async throws {
            let before = client.load.waiting
            let task = Task {
                try await PostgresShare.with(share) {
                    _ = try await client.query("SELECT 1") { [self] row in
                        order.withLock { $0.append(name) }
                        return try row.next(Int32.self)
                    }
                }
            }
            tasks.withLock { $0.append(task) }
            try await waitUntil { [client] in client.load.waiting == before + 1 }
        }

        func finish() async throws -> [String] {
            for task in tasks.withLock({ $0 }) { try await task.value }
            return order.withLock { $0 }
        }
    }

    @Test("T-E36: a share has a quarter of the places, and takes turns with others; the service's own wait for none")
    func turns() async throws {
        let queue = Queue(limit: 12)
        let client = queue.client
        try await client.transaction { _ in
            for number in 0..<3 { try await queue.ask("crowd \(number)", of: "crowd") }
            let error = await #expect(throws: PostgresError.self) {
                try await PostgresShare.with("crowd") { try await client.ping() }
            }
            #expect(error?.code == .overloaded)
            try await queue.ask("other", of: "other")
            try await queue.ask("service", of: nil)
        }
        // The first was the transaction: the fourth is the one that has waited longest.
        #expect(try await queue.finish() == ["crowd 0", "other", "crowd 1", "service", "crowd 2"])
        // The places are free again.
        try await PostgresShare.with("crowd") { try await client.ping() }
        await client.close()
    }

    @Test("T-E36: a statement that is cancelled while it waits gives its place back")
    func cancelled() async throws {
        let client = Queue(limit: 4).client
        try await client.transaction { _ in
            for _ in 0..<3 {
                let waiting = Task { try await PostgresShare.with("crowd") { try await client.ping() } }
                try await waitUntil { client.load.waiting == 1 }
                waiting.cancel()
                await #expect(throws: PostgresError.self) { try await waiting.value }
            }
        }
        try await PostgresShare.with("crowd") { try await client.ping() }
        await client.close()
    }
}
