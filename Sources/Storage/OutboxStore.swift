package import Foundation
import Linking
import Postgres
package import Projects
import Secrets

/// Messages that leave the house: written by the transaction that causes them, delivered at least once.
///
/// A message is leased to the node that tries it; one whose node died is due again when the lease ends. The payload is
/// sealed, and emptied when the message is delivered or given up; a month later it is gone.
package struct OutboxStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    package struct Message: Sendable {
        package var project: ProjectID
        package var id: String
        package var kind: String
        /// Nil when the key ring cannot open it.
        package var payload: [UInt8]?
        /// This one included.
        package var attempts: Int
        /// The identity that it is about has been linked again, to whatever account.
        package var isLinkedAgain: Bool
    }

    /// Seconds for which a message that is over is kept.
    private static let lifetime = 30.0 * 86_400

    /// Takes messages that are due, the longest overdue first.
    ///
    /// - Parameter lease: seconds in which nobody else takes them.
    package func take(limit: Int, lease: TimeInterval, now: Date) async throws -> [Message] {
        let rows = try await database.query(
            """
            UPDATE outbox o SET attempts = attempts + 1, next_attempt_at = \(now.addingTimeInterval(lease))
            FROM (
                SELECT project, message FROM outbox
                WHERE delivered_at IS NULL AND abandoned_at IS NULL AND next_attempt_at <= \(now)
                ORDER BY next_attempt_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ) due
            WHERE o.project = due.project AND o.message = due.message
            RETURNING o.project, o.message, o.kind, o.payload, o.attempts, EXISTS (
                SELECT FROM credential_subjects c WHERE c.project = o.project AND c.tenant = o.tenant
                    AND c.provider = o.provider AND c.subject = o.subject
            )
            """
        ) { row in
            (
                try row.next(String.self), try row.next(String.self), try row.next(String.self),
                try row.next([UInt8].self), try row.next(Int32.self), try row.next(Bool.self)
            )
        }
        return rows.compactMap { project, id, kind, payload, attempts, isLinkedAgain in
            guard let project = ProjectID(rawValue: project) else { return nil }
            return Message(
                project: project,
                id: id,
                kind: kind,
                // One that cannot be read must not keep the others from being delivered.
                payload: try? keyRing.open(payload, for: Self.place(project, id)),
                attempts: Int(attempts),
                isLinkedAgain: isLinkedAgain
            )
        }
    }

    package enum Outcome: Sendable {
        case delivered
        case retry(at: Date)
        case abandoned
    }

    package func settle(_ message: Message, _ outcome: Outcome, now: Date) async throws {
        let expiry: Date? = if case .retry = outcome { nil } else { now.addingTimeInterval(Self.lifetime) }
        let (delivered, abandoned, next): (Date?, Date?, Date?) =
            switch outcome {
            case .delivered: (now, nil, nil)
            case .abandoned: (nil, now, nil)
            case .retry(let date): (nil, nil, date)
            }
        try await database.execute(
            """
            UPDATE outbox SET delivered_at = \(delivered), abandoned_at = \(abandoned),
                next_attempt_at = coalesce(\(next), next_attempt_at), expires_at = \(expiry),
                payload = CASE WHEN \(expiry)::timestamptz IS NULL THEN payload ELSE ''::bytea END
            WHERE project = \(message.project.rawValue) AND message = \(message.id) AND delivered_at IS NULL
            """
        )
    }

    /// Writes a message within the transaction that causes it.
    ///
    /// - Parameter subject: of the provider, which loses its link in the same transaction.
    static func insert(
        kind: String,
        _ payload: some Encodable,
        about subject: String,
        of provider: ProviderID,
        in scope: Scope,
        keyRing: KeyRing,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        let id = UUID().uuidString.lowercased()
        let sealed = try keyRing.seal(json: payload, for: place(scope.project, id))
        try await transaction.execute(
            """
            INSERT INTO outbox (project, message, kind, payload, tenant, provider, subject, next_attempt_at, created_at)
            VALUES (\(scope.project.rawValue), \(id), \(kind), \(sealed), \(scope.tenant.rawValue),
                \(provider.rawValue), \(subject), \(now), \(now))
            """
        )
    }

    private static func place(_ project: ProjectID, _ id: String) -> String { "outbox/\(project)/\(id)" }
}
