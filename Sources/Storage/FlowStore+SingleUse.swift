package import Foundation
import Postgres
package import Projects
package import Secrets

/// What whoever has both its secret and the value that it is bound to may take, once; stored as a flow.
package enum SingleUse: String, Sendable {
    /// A code of the hosted sign-in page, bound to its PKCE challenge.
    case signInCode
    /// An authorization request that an application pushed (RFC 9126), bound to the application.
    case authorization
    /// The result of a redirect, bound to the frame that it is for.
    case redirectResult
    /// That a person answered a CAPTCHA for an app, bound to the operation.
    case captchaToken

    /// Such a row never matches a provider's flow, whatever a callback sends.
    fileprivate func hash(of owner: String) -> [UInt8] {
        switch self {
        case .signInCode: SecureHash.sha256("code_challenge." + owner)
        case .authorization: SecureHash.sha256("pushed_by." + owner)
        case .redirectResult: SecureHash.sha256("frame." + owner)
        case .captchaToken: SecureHash.sha256("captcha." + owner)
        }
    }
}

extension FlowStore {
    /// - Parameters:
    ///   - content: stored encrypted.
    ///   - secret: only its hash is stored.
    ///   - owner: likewise.
    package func insert(
        _ content: [UInt8],
        for use: SingleUse,
        secret: Secret,
        boundTo owner: String,
        in scope: Scope,
        now: Date,
        lifetime: TimeInterval
    ) async throws {
        let hash = SecureHash.sha256(secret.reveal())
        try await database.execute(
            """
            INSERT INTO flows (project, tenant, state_hash, provider, session_hash, purpose, payload, created_at, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(hash), '', \(use.hash(of: owner)),
                \(use.rawValue), \(try keyRing.seal(content, for: Self.place(scope.project, hash))), \(now),
                \(now.addingTimeInterval(lifetime)))
            """
        )
    }

    /// The statement that deletes the row gets the content.
    ///
    /// - Returns: nil if it is unknown, expired, used, or of another owner, project or tenant.
    package func take(
        _ use: SingleUse,
        secret: Secret,
        boundTo owner: String,
        in scope: Scope,
        now: Date
    ) async throws -> [UInt8]? {
        let hash = SecureHash.sha256(secret.reveal())
        let rows = try await database.query(
            """
            DELETE FROM flows
            WHERE project = \(scope.project.rawValue) AND state_hash = \(hash) AND tenant = \(scope.tenant.rawValue)
                AND purpose = \(use.rawValue) AND session_hash = \(use.hash(of: owner)) AND expires_at > \(now)
            RETURNING payload
            """
        ) { row in try row.next([UInt8].self) }
        return try rows.first.map { try keyRing.open($0, for: Self.place(scope.project, hash)) }
    }
}
