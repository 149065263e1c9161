package import Foundation
import Postgres
package import Projects
package import Secrets

/// Codes of the hosted sign-in page, stored as flows that an app ends.
extension FlowStore {
    private static let purpose = "signInCode"

    /// - Parameters:
    ///   - content: what the code is exchanged for.
    ///   - challenge: what the verifier must hash to; only its hash is stored.
    package func insert(
        _ content: [UInt8],
        code: Secret,
        challenge: String,
        in scope: Scope,
        now: Date,
        lifetime: TimeInterval
    ) async throws {
        let hash = SecureHash.sha256(code.reveal())
        try await database.execute(
            """
            INSERT INTO flows (project, tenant, state_hash, provider, session_hash, purpose, payload, created_at, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(hash), '', \(Self.hash(of: challenge)),
                \(Self.purpose), \(try keyRing.seal(content, for: Self.place(scope.project, hash))), \(now),
                \(now.addingTimeInterval(lifetime)))
            """
        )
    }

    /// Exchanges a code, once: the statement that deletes its row gets it.
    ///
    /// - Returns: nil if it is unknown, expired, used, of another project, or has another challenge.
    package func redeem(code: Secret, challenge: String, in scope: Scope, now: Date) async throws -> [UInt8]? {
        let hash = SecureHash.sha256(code.reveal())
        let rows = try await database.query(
            """
            DELETE FROM flows
            WHERE project = \(scope.project.rawValue) AND state_hash = \(hash) AND tenant = \(scope.tenant.rawValue)
                AND purpose = \(Self.purpose) AND session_hash = \(Self.hash(of: challenge)) AND expires_at > \(now)
            RETURNING payload
            """
        ) { row in try row.next([UInt8].self) }
        return try rows.first.map { try keyRing.open($0, for: Self.place(scope.project, hash)) }
    }

    /// Such a row never matches a provider's flow, whatever a callback sends.
    private static func hash(of challenge: String) -> [UInt8] { SecureHash.sha256("code_challenge." + challenge) }
}
