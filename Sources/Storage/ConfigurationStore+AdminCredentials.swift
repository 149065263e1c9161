import Postgres
package import Projects
package import Secrets
package import struct Foundation.Date

extension ConfigurationStore {
    /// Creates an admin credential; its token is returned only once, the database stores its hash.
    package func createAdminCredential(
        name: String,
        project: ProjectID?,
        scopes: Set<AdminScope>,
        expiresAt: Date?
    ) async throws -> (credential: AdminCredential, token: Secret) {
        let id = random.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        let token = Secret("idk_\(id)_\(random.handle())")
        let scope = project.map { Scope(project: $0) }
        let entry = AuditEntry(
            .adminKeyCreated,
            in: scope,
            resource: id,
            changes: scopes.map(\.rawValue).sorted(),
            at: now()
        )
        try await database.execute(
            """
            \(sql: AuditEntry.before([entry]))
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

    /// The credential of a bearer token, read from the database each time, so that a revocation applies immediately on
    /// every node.
    ///
    /// Simultaneous requests share the statement. It records the use, at most once a minute.
    package func adminCredential(forToken token: String) async throws -> AdminCredential? {
        if let access = AccessToken(token, keyRing) { return try await adminCredential(of: access) }
        guard token.hasPrefix("idk_"), token.utf8.count < 128 else { return nil }
        let question = AdminQuestion(holder: .key(hash: SecureHash.sha256(token)), now: now())
        return try await adminReads.answer(to: question, for: nil)
    }

    /// The credential of a service account's key, narrowed.
    ///
    /// - Parameter expiresAt: seconds since 1970.
    package func adminCredential(
        ofGrantee id: String,
        scopes: Set<AdminScope>,
        expiresAt: Int64
    ) async throws -> AdminCredential? {
        try await adminCredential(of: AccessToken(key: id, scopes: scopes, expiresAt: expiresAt))
    }

    private func adminCredential(of access: AccessToken) async throws -> AdminCredential? {
        let question = AdminQuestion(holder: .grantee(id: access.key), now: now())
        var credential = try await adminReads.answer(to: question, for: nil)
        credential?.narrow(to: access)
        return credential
    }

    /// Looks up the tokens of simultaneous requests, usually the same one.
    static func adminCredentials(
        _ questions: [AdminQuestion],
        _ database: PostgresClient
    ) async throws -> [Result<AdminCredential?, any Error>] {
        let date = questions.map(\.now).max() ?? Date()
        let hashes: [[UInt8]] = questions.map { if case .key(let hash) = $0.holder { hash } else { [] } }
        let grantees: [String] = questions.map { if case .grantee(let id) = $0.holder { id } else { "" } }
        return try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT n.number, c.* FROM unnest(\(hashes)::bytea[]) WITH ORDINALITY n (hash, number)
                JOIN admin_credentials c ON c.secret_hash = n.hash AND c.kind = 'key'
                UNION ALL
                SELECT n.number, c.* FROM unnest(\(grantees)::text[]) WITH ORDINALITY n (id, number)
                JOIN admin_credentials c ON c.id = n.id AND c.kind IN ('service_account', 'workload')
            ), used AS (
                UPDATE admin_credentials u SET last_used_at = \(date)
                FROM (SELECT DISTINCT id FROM asked) a
                WHERE u.id = a.id AND NOT u.disabled AND (u.expires_at IS NULL OR u.expires_at > \(date))
                    AND (u.last_used_at IS NULL OR u.last_used_at < \(date.addingTimeInterval(-60)))
            )
            SELECT number, id, name, project, scopes, expires_at, disabled FROM asked
            """,
            into: BatchAnswers<AdminCredential?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { answer, row in answer = try Self.credential(&row) }
        }.results
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
        try await revoke(id, "key", of: nil, .adminKeyRevoked)
    }

    func revoke(_ id: String, _ kind: String, of project: ProjectID?, _ action: AuditAction) async throws {
        try await changing(
            """
            UPDATE admin_credentials SET disabled = true
            WHERE id = \(id) AND kind = \(kind) AND NOT disabled
                AND (\(project?.rawValue)::text IS NULL OR project = \(project?.rawValue))
            RETURNING project
            """,
            recording: AuditEntry(action, in: nil, resource: id, at: now()),
            ofRows: true,
            revoking: project
        )
    }

    private func readAdminCredentials(
        where condition: SQL
    ) async throws -> [ListedAdminCredential] {
        try await database.query(
            """
            SELECT id, name, project, scopes, expires_at, disabled, created_at, last_used_at
            FROM admin_credentials WHERE \(sql: condition) ORDER BY created_at, id
            """
        ) { row in
            guard let credential = try Self.credential(&row) else { return nil }
            return ListedAdminCredential(
                credential: credential,
                createdAt: try row.next(),
                lastUsedAt: try row.next()
            )
        }.compactMap(\.self)
    }

    /// Nil for an unreadable row, and for a row that has none.
    static func credential(_ row: inout PostgresRow) throws -> AdminCredential? {
        let (id, name): (String?, String?) = (try row.next(), try row.next())
        let project: String? = try row.next()
        let scopes: [String]? = try row.next()
        let expiresAt: Date? = try row.next()
        let disabled: Bool? = try row.next()
        guard let id, let name, let scopes, let disabled else { return nil }
        // An unreadable project must not turn the credential into one for all projects.
        guard project == nil || project.flatMap(ProjectID.init(rawValue:)) != nil else { return nil }
        return AdminCredential(
            id: id,
            name: name,
            project: project.flatMap(ProjectID.init(rawValue:)),
            scopes: Set(scopes.compactMap(AdminScope.init(rawValue:))),
            expiresAt: expiresAt.map { Int64($0.timeIntervalSince1970) },
            disabled: disabled
        )
    }
}

/// A question for the admin credential of a token.
struct AdminQuestion: Sendable {
    enum Holder: Sendable {
        case key(hash: [UInt8])
        /// What an access token represents: a service account's key or a workload.
        case grantee(id: String)
    }

    var holder: Holder
    var now: Date
}
