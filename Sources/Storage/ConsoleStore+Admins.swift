package import Domain
import Postgres
package import Projects
package import Secrets
package import struct Foundation.Date

/// Admins of the console, as the command line manages them.
extension ConsoleStore {
    /// The lifetime of a setup code, in seconds.
    package static let invitationLifetime = 86_400.0

    /// Creates an admin, who then sets a password and an authenticator app with the code.
    ///
    /// - Parameter project: the only project that the admin can access; nil for all.
    /// - Returns: the code, returned only once; the database stores its hash.
    /// - Throws: ``ConfigurationError/alreadyExists`` for an email that an admin has.
    package func createAdmin(
        _ email: EmailAddress,
        project: ProjectID?,
        scopes: Set<AdminScope>,
        expiresAt: Date?,
        now: Date
    ) async throws -> (id: String, code: Secret) {
        let id = random.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        let code = random.handle()
        let names = scopes.map(\.rawValue).sorted()
        let entry = AuditEntry(
            .adminCreated,
            in: project.map { Scope(project: $0) },
            resource: id,
            changes: names,
            at: now
        )
        do {
            let insertion: SQL = """
                INSERT INTO admin_credentials (id, kind, name, email, secret_hash, set_up_until, project, scopes, created_at,
                    expires_at)
                VALUES (\(id), 'console', \(email.original), \(email.canonical), \(SecureHash.sha256(code)),
                    \(now.addingTimeInterval(Self.invitationLifetime)), \(project?.rawValue), \(names), \(now),
                    \(expiresAt))
                """
            try await database.transaction { transaction in
                transaction.write(insertion)
                transaction.write(entry.insertion())
            }
        } catch let error as PostgresError where error.sqlState == "23505" {
            throw ConfigurationError.alreadyExists
        }
        return (id, Secret(code))
    }

    package struct ListedAdmin: Sendable {
        /// Its name is the email.
        package var admin: AdminCredential
        package var createdAt: Date
        package var lastUsedAt: Date?
        /// Whether a password and an authenticator app are set.
        package var isSetUp: Bool
        package var sessions: Int64
    }

    package func listAdmins(now: Date) async throws -> [ListedAdmin] {
        try await database.query(
            """
            SELECT a.id, a.name, a.project, a.scopes, a.expires_at, a.disabled, a.created_at, a.last_used_at,
                a.console_secrets IS NOT NULL,
                (SELECT count(*) FROM console_sessions s WHERE s.admin = a.id AND s.expires_at > \(now))
            FROM admin_credentials a WHERE a.kind = 'console' ORDER BY a.created_at, a.id
            """
        ) { row -> ListedAdmin? in
            guard let admin = try ConfigurationStore.credential(&row) else { return nil }
            return ListedAdmin(
                admin: admin,
                createdAt: try row.next(),
                lastUsedAt: try row.next(),
                isSetUp: try row.next(),
                sessions: try row.next()
            )
        }.compactMap(\.self)
    }

    /// Revokes an admin and ends their sessions on every node immediately.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeAdmin(_ email: EmailAddress, now: Date) async throws {
        try await change(email, to: "disabled = true, console_secrets = NULL, set_up_until = NULL", .adminRevoked, now)
    }

    /// Removes an admin's password and authenticator app, and ends their sessions.
    ///
    /// - Returns: the code for setting new ones.
    /// - Throws: ``ConfigurationError/notFound``.
    package func resetAdmin(_ email: EmailAddress, now: Date) async throws -> Secret {
        let code = random.handle()
        try await change(
            email,
            to: """
                secret_hash = \(SecureHash.sha256(code)), console_secrets = NULL,
                set_up_until = \(now.addingTimeInterval(Self.invitationLifetime))
                """,
            .adminReset,
            now
        )
        return Secret(code)
    }

    private func change(_ email: EmailAddress, to values: SQL, _ action: AuditAction, _ now: Date) async throws {
        try await database.transaction { transaction in
            let changed = try await transaction.query(
                """
                UPDATE admin_credentials a SET \(sql: values)
                WHERE a.kind = 'console' AND a.email = \(email.canonical) AND NOT a.disabled
                RETURNING a.id, coalesce(a.project, '')
                """
            ) { (id: try $0.next(String.self), project: try $0.next(String.self)) }
            guard let admin = changed.first else { throw ConfigurationError.notFound }
            transaction.write("DELETE FROM console_sessions WHERE admin = \(admin.id)")
            let entry = AuditEntry(action, in: nil, resource: admin.id, at: now)
            transaction.write(entry.insertion(project: "\(admin.project)"))
        }
    }

    /// A session with all permissions in every project, which never asks for credentials, for `identity dev`.
    package func openForOwner(_ handle: String, now: Date) async throws {
        let scopes = AdminScope.allCases.map(\.rawValue).sorted()
        try await database.execute(
            """
            INSERT INTO admin_credentials (id, kind, name, email, secret_hash, scopes, created_at)
            VALUES ('owner', 'console', 'owner', 'owner', \(SecureHash.sha256(handle)), \(scopes), \(now))
            ON CONFLICT (id) DO UPDATE SET last_used_at = excluded.created_at
            """
        )
        try await database.execute(
            """
            INSERT INTO console_sessions (handle_hash, admin, created_at, authenticated_at, last_used_at, expires_at)
            VALUES (\(SecureHash.sha256(handle)), 'owner', \(now), \(now.addingTimeInterval(Self.lifetime)), \(now),
                \(now.addingTimeInterval(Self.idleLifetime)))
            """
        )
    }
}
