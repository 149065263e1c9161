import Postgres
package import struct Foundation.Date

extension Stores {
    /// Undelivered messages of one kind.
    package struct Backlog: Sendable {
        package var kind: String
        package var messages: Int
        /// The creation time of the oldest one.
        package var oldest: Date
    }

    /// The maximum number of messages to count; a larger number makes no difference.
    private static let counted = 10_000

    /// The pending messages of all nodes, from an index of only pending ones.
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

    /// An undelivered message; its content is sealed.
    package struct WaitingMessage: Sendable {
        package var project: String
        package var kind: String
        /// The number of attempts.
        package var attempts: Int
        package var createdAt: Date
        package var nextAttemptAt: Date
    }

    /// The messages that are due next.
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
