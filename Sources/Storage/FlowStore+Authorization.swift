package import Foundation
import Postgres
package import Projects
package import Secrets

/// Authorization requests that applications pushed (RFC 9126), stored as flows that one visit ends.
extension FlowStore {
    private static let purpose = "authorization"

    /// - Parameters:
    ///   - content: the request.
    ///   - client: the application that alone may use it.
    package func insert(
        _ content: [UInt8],
        pushed handle: Secret,
        by client: String,
        in scope: Scope,
        now: Date,
        lifetime: TimeInterval
    ) async throws {
        let hash = SecureHash.sha256(handle.reveal())
        try await database.execute(
            """
            INSERT INTO flows (project, tenant, state_hash, provider, session_hash, purpose, payload, created_at, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(hash), '', \(Self.hash(of: client)),
                \(Self.purpose), \(try keyRing.seal(content, for: Self.place(scope.project, hash))), \(now),
                \(now.addingTimeInterval(lifetime)))
            """
        )
    }

    /// - Returns: nil if it is unknown, expired, used, or of another application or project.
    package func take(pushed handle: Secret, by client: String, in scope: Scope, now: Date) async throws -> [UInt8]? {
        let hash = SecureHash.sha256(handle.reveal())
        let rows = try await database.query(
            """
            DELETE FROM flows
            WHERE project = \(scope.project.rawValue) AND state_hash = \(hash) AND tenant = \(scope.tenant.rawValue)
                AND purpose = \(Self.purpose) AND session_hash = \(Self.hash(of: client)) AND expires_at > \(now)
            RETURNING payload
            """
        ) { row in try row.next([UInt8].self) }
        return try rows.first.map { try keyRing.open($0, for: Self.place(scope.project, hash)) }
    }

    /// Such a row never matches a provider's flow, whatever a callback sends.
    private static func hash(of client: String) -> [UInt8] { SecureHash.sha256("pushed_by." + client) }
}
