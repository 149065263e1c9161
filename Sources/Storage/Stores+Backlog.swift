import Postgres
package import struct Foundation.Date

extension Stores {
    /// Messages of one kind that nobody has delivered yet.
    package struct Backlog: Sendable {
        package var kind: String
        package var messages: Int
        /// When the oldest came to be.
        package var oldest: Date
    }

    /// The messages that are counted at most: beyond, it no longer matters how many there are.
    private static let counted = 10_000

    /// What waits in the outbox of all nodes, by an index of what waits alone.
    package func backlog() async throws -> [Backlog] {
        try await watch.query(
            """
            SELECT kind, count(*), min(created_at) FROM (
                SELECT kind, created_at FROM outbox WHERE delivered_at IS NULL AND abandoned_at IS NULL
                ORDER BY next_attempt_at LIMIT \(Self.counted)
            ) waiting
            GROUP BY kind ORDER BY kind
            """
        ) { row in
            Backlog(
                kind: try row.next(String.self),
                messages: Int(try row.next(Int64.self)),
                oldest: try row.next(Date.self)
            )
        }
    }

    /// A message that nobody has delivered yet; what it says is sealed.
    package struct WaitingMessage: Sendable {
        package var project: String
        package var kind: String
        /// How often it was tried.
        package var attempts: Int
        package var createdAt: Date
        package var nextAttemptAt: Date
    }

    /// The messages that are tried next.
    package func waitingMessages(_ count: Int) async throws -> [WaitingMessage] {
        try await watch.query(
            """
            SELECT project, kind, attempts, created_at, next_attempt_at FROM outbox
            WHERE delivered_at IS NULL AND abandoned_at IS NULL
            ORDER BY next_attempt_at LIMIT \(count)
            """
        ) { row in
            WaitingMessage(
                project: try row.next(),
                kind: try row.next(),
                attempts: Int(try row.next(Int32.self)),
                createdAt: try row.next(),
                nextAttemptAt: try row.next()
            )
        }
    }
}
