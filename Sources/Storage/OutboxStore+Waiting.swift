import Delivery
package import Domain
import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

/// The messages that `identity dev` shows instead of sending them.
extension OutboxStore {
    /// Undelivered messages, oldest first, and the codes that are still valid.
    package struct Waiting: Sendable {
        package var payloads: [[UInt8]] = []
        /// By their hashes.
        package var codes: [[UInt8]: Code] = [:]

        /// Nothing is known of a code in an SMS.
        package struct Code: Sendable {
            package var type: OOBCodeType?
            package var email: EmailAddress?
            package var newEmail: EmailAddress?
        }
    }

    /// The emails that wait, and the codes of emails.
    ///
    /// - Parameter limit: the largest number of emails, of the newest; nil for all.
    package func waitingMails(newest limit: Int? = nil, in scope: Scope, now: Date) async throws -> Waiting {
        try await waiting(
            Mail.kind,
            and: """
                SELECT NULL, NULL, NULL, code_hash, type, email, new_email FROM oob_codes
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND valid_until > \(now)
                """,
            limit,
            scope,
            now
        )
    }

    /// The SMS that wait, and the codes of SMS.
    ///
    /// - Parameter limit: the largest number of SMS, of the newest; nil for all.
    package func waitingSMS(newest limit: Int? = nil, in scope: Scope, now: Date) async throws -> Waiting {
        try await waiting(
            SMS.kind,
            and: """
                SELECT NULL, NULL, NULL, session_hash, NULL, NULL, NULL FROM verification_codes
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND valid_until > \(now)
                    AND attempts < \(Int32(VerificationCodeStore.attempts))
                """,
            limit,
            scope,
            now
        )
    }

    /// Reads the codes beside the messages, in one statement however many wait: only the sealed content of a message
    /// names its code.
    private func waiting(
        _ kind: String,
        and codes: SQL,
        _ limit: Int?,
        _ scope: Scope,
        _ now: Date
    ) async throws -> Waiting {
        let rows = try await database.query(
            """
            (
                SELECT message, payload, created_at, NULL::bytea, NULL::text, NULL::text, NULL::text FROM outbox
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND kind = \(kind)
                    AND \(sql: Self.isWaiting) AND expires_at > \(now)
                ORDER BY created_at DESC, message DESC LIMIT \(limit.map { Int64($0) })
            )
            UNION ALL \(sql: codes)
            ORDER BY created_at, message
            """
        ) { row in
            (
                message: try row.next(String?.self), payload: try row.next([UInt8]?.self),
                created: try row.next(Date?.self), hash: try row.next([UInt8]?.self),
                type: try row.next(String?.self), email: try row.next(String?.self),
                newEmail: try row.next(String?.self)
            )
        }
        var waiting = Waiting()
        for row in rows {
            if let message = row.message, let payload = row.payload {
                guard let opened = try? keyRing.open(payload, for: Self.place(scope.project, message)) else { continue }
                waiting.payloads.append(opened)
            } else if let hash = row.hash {
                waiting.codes[hash] = Waiting.Code(
                    type: row.type.flatMap { OOBCodeType(rawValue: $0) },
                    email: row.email.flatMap { EmailAddress($0) },
                    newEmail: row.newEmail.flatMap { EmailAddress($0) }
                )
            }
        }
        return waiting
    }
}
