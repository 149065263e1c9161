import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

/// The sessions of the console's admins, by the SHA-256 of the handle in the browser's cookie.
package struct ConsoleStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    let random: RandomSource

    /// Seconds without use after which a session ends.
    package static let idleLifetime = 1_800.0
    /// Seconds after which every session ends.
    package static let lifetime = 43_200.0

    /// A signed-in admin.
    package struct Session: Sendable, Hashable {
        /// Its name is the email.
        package var admin: AdminCredential
        package var createdAt: Date
        /// When the password and a code were last entered.
        package var authenticatedAt: Date
    }

    /// The session of a handle; nil if there is none, it has ended, or the admin was revoked.
    ///
    /// It records the use, at most once a minute.
    package func session(_ handle: String, now: Date) async throws -> Session? {
        let hash = SecureHash.sha256(handle)
        let noted = now.addingTimeInterval(-60)
        return try await database.query(
            """
            WITH found AS MATERIALIZED (
                SELECT a.id, a.name, a.project, a.scopes, a.expires_at, a.disabled, s.handle_hash, s.created_at,
                    s.authenticated_at
                FROM console_sessions s JOIN admin_credentials a ON a.id = s.admin
                WHERE s.handle_hash = \(hash) AND s.expires_at > \(now) AND \(sql: Self.maySignIn("a", now))
            ), used AS (
                UPDATE console_sessions s SET last_used_at = \(now),
                    expires_at = least(\(sql: .later(than: "s.created_at", by: "\(Self.lifetime)")),
                        \(now.addingTimeInterval(Self.idleLifetime)))
                FROM found f WHERE s.handle_hash = f.handle_hash AND s.last_used_at < \(noted)
            ), noted AS (
                UPDATE admin_credentials a SET last_used_at = \(now)
                FROM found f WHERE a.id = f.id AND (a.last_used_at IS NULL OR a.last_used_at < \(noted))
            )
            SELECT id, name, project, scopes, expires_at, disabled, created_at, authenticated_at FROM found
            """
        ) { row -> Session? in
            guard let admin = try ConfigurationStore.credential(&row) else { return nil }
            return Session(admin: admin, createdAt: try row.next(), authenticatedAt: try row.next())
        }.compactMap(\.self).first
    }

    /// Ends a session, if there is one.
    package func end(_ handle: String) async throws {
        try await database.execute(
            "DELETE FROM console_sessions WHERE handle_hash = \(SecureHash.sha256(handle))"
        )
    }

    /// A condition on rows of `admin_credentials`: an admin of the console who is not revoked.
    static func maySignIn(_ table: SQL, _ now: Date) -> SQL {
        """
        \(sql: table).kind = 'console' AND NOT \(sql: table).disabled
            AND (\(sql: table).expires_at IS NULL OR \(sql: table).expires_at > \(now))
        """
    }
}
