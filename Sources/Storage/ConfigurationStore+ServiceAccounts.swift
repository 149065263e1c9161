import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

extension ConfigurationStore {
    /// Registers a key of a service account on every node within half a second.
    ///
    /// - Throws: ``ConfigurationError/alreadyExists`` for a registered key.
    package func createServiceAccountKey(_ key: ServiceAccountKey, name: String) async throws {
        do {
            try await changing(
                """
                INSERT INTO admin_credentials (id, kind, name, secret_hash, project, scopes, created_at, expires_at, email,
                    public_key)
                SELECT \(key.id), 'service_account', \(name), \(SecureHash.sha256(key.publicKey)), p.project,
                    \(key.scopes.map(\.rawValue).sorted()), \(now()),
                    to_timestamp(\(key.expiresAt.map { Double($0) })), \(key.email), \(key.publicKey)
                FROM projects p WHERE p.project = \(key.project.rawValue)
                RETURNING id
                """,
                recording: AuditEntry(
                    .serviceAccountCreated,
                    in: Scope(project: key.project),
                    resource: key.id,
                    changes: key.scopes.map(\.rawValue).sorted(),
                    at: now()
                ),
                adding: key.project
            )
        } catch let error as PostgresError where error.sqlState == "23505" {
            throw ConfigurationError.alreadyExists
        }
    }

    package struct ListedServiceAccountKey: Sendable {
        package var key: ServiceAccountKey
        package var createdAt: Date
        /// The last use of one of its access tokens, to the minute.
        package var lastUsedAt: Date?
        package var disabled: Bool
    }

    /// All keys of a project's service accounts, or of all, including revoked ones.
    package func listServiceAccountKeys(of project: ProjectID? = nil) async throws -> [ListedServiceAccountKey] {
        try await readServiceAccountKeys(where: "project = coalesce(\(project?.rawValue), project)")
    }

    /// - Parameter project: nil for any.
    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeServiceAccountKey(_ id: String, of project: ProjectID? = nil) async throws {
        try await revoke(id, "service_account", of: project, .serviceAccountRevoked)
    }

    func readServiceAccountKeys(where condition: SQL) async throws -> [ListedServiceAccountKey] {
        try await database.query(
            """
            SELECT id, email, project, scopes, public_key, expires_at, created_at, last_used_at, disabled
            FROM admin_credentials WHERE kind = 'service_account' AND \(sql: condition) ORDER BY created_at, id
            """
        ) { row in
            let (id, email, project): (String, String?, String?) = (try row.next(), try row.next(), try row.next())
            let scopes: [String] = try row.next()
            let publicKey: [UInt8]? = try row.next()
            let expiresAt: Date? = try row.next()
            let (createdAt, lastUsedAt): (Date, Date?) = (try row.next(), try row.next())
            let disabled: Bool = try row.next()
            guard let email, let publicKey, let project = project.flatMap(ProjectID.init(rawValue:)) else { return nil }
            return ListedServiceAccountKey(
                key: ServiceAccountKey(
                    id: id,
                    email: email,
                    project: project,
                    scopes: Set(scopes.compactMap(AdminScope.init(rawValue:))),
                    publicKey: publicKey,
                    expiresAt: expiresAt.map { Int64($0.timeIntervalSince1970) }
                ),
                createdAt: createdAt,
                lastUsedAt: lastUsedAt,
                disabled: disabled
            )
        }.compactMap(\.self)
    }
}
