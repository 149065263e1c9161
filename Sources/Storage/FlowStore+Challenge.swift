package import Domain
package import Foundation
import Postgres
package import Projects
import Secrets
package import Sessions

/// A challenge that a passkey must sign, stored as a flow that one response ends.
package struct PasskeyChallenge: Sendable {
    /// Who may answer it.
    package enum Purpose: Sendable, Hashable {
        /// Any passkey of the project or tenant.
        case signIn
        /// A passkey of the account, after another factor.
        case secondFactor(AccountID)
        /// A new passkey of the account, in the session that asked for it.
        case enrollment(AccountID, SessionID)
    }

    package let purpose: Purpose
    let hash: [UInt8]

    package init(_ bytes: [UInt8], for purpose: Purpose) {
        self.purpose = purpose
        hash = SecureHash.sha256(bytes)
    }

    /// Seconds: what clients are told, and as long as the service accepts the response.
    package static let lifetime = 300.0

    var name: String {
        switch purpose {
        case .signIn: "passkeySignIn"
        case .secondFactor: "passkeySecondFactor"
        case .enrollment: "passkeyEnrollment"
        }
    }

    /// Such a row never matches a provider's flow, whatever a callback sends.
    var ownerHash: [UInt8] {
        switch purpose {
        case .signIn: SecureHash.sha256("passkey_challenge")
        case .secondFactor(let account): SecureHash.sha256("passkey_challenge.second_factor.\(account)")
        case .enrollment(let account, let session): SecureHash.sha256("passkey_challenge.\(session).\(account)")
        }
    }

    /// The statement that takes the challenge: one row, or none if it is unknown, expired, used, or of another account,
    /// session, project, tenant or ceremony.
    func taking(_ scope: Scope, now: Date) -> SQL {
        """
        DELETE FROM flows
        WHERE project = \(scope.project.rawValue) AND state_hash = \(hash) AND tenant = \(scope.tenant.rawValue)
            AND purpose = \(name) AND session_hash = \(ownerHash) AND expires_at > \(now)
        RETURNING true
        """
    }

    func insertion(_ scope: Scope, payload: [UInt8], from source: SQL, now: Date) -> SQL {
        """
        INSERT INTO flows (project, tenant, state_hash, provider, session_hash, purpose, payload, created_at, expires_at)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(hash), '', \(ownerHash), \(name), \(payload),
            \(now), \(now.addingTimeInterval(Self.lifetime))
        FROM \(sql: source)
        """
    }
}

extension FlowStore {
    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ challenge: PasskeyChallenge,
        within limits: RateLimits,
        in scope: Scope,
        now: Date
    ) async throws {
        let payload = try keyRing.seal([], for: Self.place(scope.project, challenge.hash))
        let source: SQL = "limits WHERE \(sql: limits.havePassed)"
        let insertion = challenge.insertion(scope, payload: payload, from: source, now: now)
        let passed = try await database.query(
            "WITH \(sql: limits.taking), begun AS (\(sql: insertion)) SELECT passed FROM limits"
        ) { row in try row.next(Int64.self) }
        try limits.check(passed: passed.first ?? 0)
    }

    /// Takes a challenge, once: of simultaneous responses, the one whose statement deletes the row gets it.
    ///
    /// - Returns: false if it is unknown, expired, used, or of another account, session, project, tenant or ceremony.
    package func take(_ challenge: PasskeyChallenge, in scope: Scope, now: Date) async throws -> Bool {
        try await !database.query(challenge.taking(scope, now: now)) { row in try row.next(Bool.self) }.isEmpty
    }
}
