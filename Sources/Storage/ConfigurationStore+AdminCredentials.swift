import Postgres
package import Projects
package import Secrets
package import struct Foundation.Date

extension ConfigurationStore {
    /// Makes an admin credential; its text is shown this once, the database keeps the hash.
    package func createAdminCredential(
        name: String,
        project: ProjectID?,
        scopes: Set<AdminScope>,
        expiresAt: Date?
    ) async throws -> (credential: AdminCredential, token: Secret) {
        let id = random.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        let token = Secret("idk_\(id)_\(random.handle())")
        try await database.execute(
            """
            INSERT INTO admin_credentials (id, kind, name, secret_hash, project, scopes, created_at, expires_at)
            VALUES (\(id), 'key', \(name), \(SecureHash.sha256(token.reveal())), \(project?.rawValue),
                \(scopes.map(\.rawValue).sorted()), \(now()), \(expiresAt))
            """
        )
        let credential = AdminCredential(
            id: id,
            name: name,
            project: project,
            scopes: scopes,
            expiresAt: expiresAt.map { Int64($0.timeIntervalSince1970) }
        )
        return (credential, token)
    }

    /// The credential that a bearer token is, read from the database each time: a revocation counts at once, everywhere.
    ///
    /// Notes its use, at most once a minute.
    package func adminCredential(forToken token: String) async throws -> AdminCredential? {
        if let access = AccessToken(token, keyRing) {
            var credential = try await usedAdminCredential(where: "id = \(access.key) AND kind = 'service_account'")
            credential?.narrow(to: access)
            return credential
        }
        guard token.hasPrefix("idk_"), token.utf8.count < 128 else { return nil }
        return try await usedAdminCredential(where: "secret_hash = \(SecureHash.sha256(token)) AND kind = 'key'")
    }

    private func usedAdminCredential(where condition: SQL) async throws -> AdminCredential? {
        let date = now()
        let rows = try await readAdminCredentials(
            """
            WITH used AS (
                UPDATE admin_credentials SET last_used_at = \(date)
                WHERE \(sql: condition) AND NOT disabled AND (expires_at IS NULL OR expires_at > \(date))
                    AND (last_used_at IS NULL OR last_used_at < \(date.addingTimeInterval(-60)))
            )
            """,
            where: condition
        )
        return rows.first?.credential
    }

    package struct ListedAdminCredential: Sendable {
        package var credential: AdminCredential
        package var createdAt: Date
        package var lastUsedAt: Date?
    }

    package func listAdminCredentials() async throws -> [ListedAdminCredential] {
        try await readAdminCredentials(where: "kind = 'key'")
    }

    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeAdminCredential(_ id: String) async throws {
        let changed = try await database.execute(
            "UPDATE admin_credentials SET disabled = true WHERE id = \(id) AND kind = 'key' AND NOT disabled"
        )
        guard changed > 0 else { throw ConfigurationError.notFound }
    }

    private func readAdminCredentials(
        _ with: SQL = "",
        where condition: SQL
    ) async throws -> [ListedAdminCredential] {
        try await database.query(
            """
            \(sql: with) SELECT id, name, project, scopes, expires_at, disabled, created_at, last_used_at
            FROM admin_credentials WHERE \(sql: condition) ORDER BY created_at, id
            """
        ) { row in
            let id: String = try row.next()
            let name: String = try row.next()
            let project: String? = try row.next()
            // A project that cannot be read must not turn the credential into one for every project.
            guard project == nil || project.flatMap(ProjectID.init(rawValue:)) != nil else { return nil }
            let scopes: [String] = try row.next()
            let expiresAt: Date? = try row.next()
            let credential = AdminCredential(
                id: id,
                name: name,
                project: project.flatMap(ProjectID.init(rawValue:)),
                scopes: Set(scopes.compactMap(AdminScope.init(rawValue:))),
                expiresAt: expiresAt.map { Int64($0.timeIntervalSince1970) },
                disabled: try row.next()
            )
            return ListedAdminCredential(
                credential: credential,
                createdAt: try row.next(),
                lastUsedAt: try row.next()
            )
        }.compactMap(\.self)
    }
}
