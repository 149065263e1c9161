package import Domain
package import Foundation
import Postgres
package import Projects
import Secrets

/// Values that a provider sends only once (Apple's name), stored before anything that can fail, so that an interrupted
/// sign-in does not lose them.
package struct KeptNameStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    /// How long a name is kept until the user returns, in seconds.
    package static let lifetime = 30.0 * 86_400

    package func keep(
        _ text: String,
        of subject: String,
        at provider: ProviderID,
        in scope: Scope,
        now: Date
    ) async throws {
        let sealed = try keyRing.seal(Array(text.utf8), for: Self.place(subject, provider, scope))
        try await database.execute(
            """
            INSERT INTO kept_names (project, tenant, provider, subject, payload, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(provider.rawValue), \(subject), \(sealed),
                \(now.addingTimeInterval(Self.lifetime)))
            ON CONFLICT (project, tenant, provider, subject)
                DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
            """
        )
    }

    /// Nil if none is stored.
    package func find(
        _ subject: String,
        at provider: ProviderID,
        in scope: Scope,
        now: Date
    ) async throws -> String? {
        let rows = try await database.query(
            """
            SELECT payload FROM kept_names WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND provider = \(provider.rawValue) AND subject = \(subject)
                AND expires_at > \(now)
            """
        ) { row in try row.next([UInt8].self) }
        return try rows.first.map {
            String(decoding: try keyRing.open($0, for: Self.place(subject, provider, scope)), as: UTF8.self)
        }
    }

    private static func place(_ subject: String, _ provider: ProviderID, _ scope: Scope) -> String {
        "kept_names/\(scope.project)/\(scope.tenant)/\(provider)/\(SecureHash.sha256Hex(subject))"
    }
}
