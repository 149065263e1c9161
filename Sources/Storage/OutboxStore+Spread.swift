import Foundation
import Postgres
import Projects

/// Messages of projects that lie on several machines.
extension OutboxStore {
    /// What ``take(_:and:except:andAllOf:inProgress:limit:since:lease:now:)`` takes: no statement can lock messages of
    /// several machines, so this reads what is due, then leases one after another.
    ///
    /// - Parameter isMeant: a condition on a message's `kind`, `project` and `receiver`.
    func takeSpread(
        _ isMeant: SQL,
        inProgress: [ProjectID: Int],
        limit: Int,
        since: Date?,
        lease: TimeInterval,
        now: Date
    ) async throws -> [Message] {
        let after: SQL = since.map { "AND next_attempt_at > \($0)" } ?? ""
        let due = try await database.query(
            """
            SELECT project, message, next_attempt_at, place FROM (
                SELECT project, message, next_attempt_at,
                    row_number() OVER (PARTITION BY project ORDER BY turn, holds, next_attempt_at) AS place
                FROM (
                    SELECT project, message, next_attempt_at,
                        row_number() OVER (PARTITION BY project, kind, receiver ORDER BY next_attempt_at) AS turn,
                        EXISTS (
                            SELECT FROM outbox h WHERE h.project = m.project AND h.kind = m.kind
                                AND h.receiver = m.receiver AND h.next_attempt_at > \(now)
                                AND h.delivered_at IS NULL AND h.abandoned_at IS NULL
                        ) AS holds
                    FROM outbox m
                    WHERE \(sql: Self.isWaiting) AND next_attempt_at <= \(now) \(sql: after) AND \(sql: isMeant)
                ) m
            ) m WHERE place <= \(Int64(limit)) ORDER BY place, next_attempt_at LIMIT 1000
            """
        ) { row in
            (
                project: try row.next(String.self), message: try row.next(String.self), due: try row.next(Date.self),
                place: Int(try row.next(Int64.self))
            )
        }
        let places = Dictionary(uniqueKeysWithValues: inProgress.map { ($0.key.rawValue, $0.value) })
        let inTurn = due.map { ($0, $0.place + places[$0.project, default: 0]) }.sorted {
            ($0.1, $0.0.due) < ($1.1, $1.0.due)
        }
        var messages: [Message] = []
        for (next, _) in inTurn where messages.count < limit {
            messages += try await database.query(
                """
                UPDATE outbox o SET attempts = attempts + 1, next_attempt_at = \(now.addingTimeInterval(lease))
                WHERE o.project = \(next.project) AND o.message = \(next.message) AND \(sql: Self.isWaiting)
                    AND o.next_attempt_at = \(next.due)
                RETURNING \(sql: Self.leased("\(next.project)"))
                """
            ) { try message(&$0) }.compactMap(\.self)
        }
        return messages
    }
}
