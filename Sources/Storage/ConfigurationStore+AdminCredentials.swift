package import Postgres
package import Projects
package import Secrets
package import struct Foundation.Date

/// A kind of rows of `admin_credentials`: the columns of every kind, and its own.
package protocol AdminCredentialKind: Sendable {
    static var kind: String { get }
    /// The names of its own columns, each after a comma.
    static var columns: SQL { get }
    /// The same as they are read.
    static var selected: SQL { get }
    static var revoked: AuditAction { get }
    /// Whether nodes keep it in memory, so that it counts in the size of a project's configuration.
    static var isConfiguration: Bool { get }

    /// - Parameter row: at its own columns.
    /// - Returns: nil for an unreadable row.
    init?(_ credential: AdminCredential, _ row: inout PostgresRow) throws
}

/// A credential of the admin API as a list shows it.
package struct Listed<Credential: Sendable>: Sendable {
    package var credential: Credential
    package var createdAt: Date
    /// The last use of it or of one of its access tokens, to the minute.
    package var lastUsedAt: Date?
}

extension AdminCredentialKind {
    package static var selected: SQL { columns }
    package static var isConfiguration: Bool { true }
}

extension AdminCredential: AdminCredentialKind {
    package static let kind = "key"
    package static let columns: SQL = ""
    package static let revoked = AuditAction.adminKeyRevoked
    package static let isConfiguration = false

    package init?(_ credential: AdminCredential, _: inout PostgresRow) { self = credential }
}

extension ConfigurationStore {
    /// Creates an admin key; its token is returned only once, the database stores its hash.
    ///
    /// - Throws: ``ConfigurationError/notFound`` without the project.
    package func createAdminCredential(
        name: String,
        project: ProjectID?,
        scopes: Set<AdminScope>,
        expiresAt: Date?
    ) async throws -> (credential: AdminCredential, token: Secret) {
        let credential = AdminCredential(
            id: newCredentialID(),
            name: name,
            project: project,
            scopes: scopes,
            expiresAt: expiresAt.map { Int64($0.timeIntervalSince1970) }
        )
        let token = Secret("idk_\(credential.id)_\(random.handle())")
        try await create(
            credential,
            as: AdminCredential.self,
            .adminKeyCreated,
            secret: SecureHash.sha256(token.reveal())
        )
        return (credential, token)
    }

    /// - Parameters:
    ///   - secret: the hash of what it is found by.
    ///   - values: of the kind's own columns, each after a comma.
    /// - Throws: ``ConfigurationError/notFound`` without the project, ``ConfigurationError/alreadyExists`` for its ID.
    func create<Kind: AdminCredentialKind>(
        _ credential: AdminCredential,
        as _: Kind.Type,
        _ action: AuditAction,
        secret: [UInt8],
        values: SQL = ""
    ) async throws {
        let project = credential.project
        let scopes = credential.scopes.map(\.rawValue).sorted()
        let end = credential.expiresAt.map { Date(timeIntervalSince1970: Double($0)) }
        let row: SQL = """
            \(credential.id), \(Kind.kind), \(credential.name), \(secret), \(project?.rawValue), \(scopes), \(now()),
                \(end)\(sql: values)
            """
        let rows: SQL =
            project.map { "SELECT \(sql: row) FROM projects WHERE project = \($0.rawValue)" } ?? "VALUES (\(sql: row))"
        do {
            try await changing(
                """
                INSERT INTO admin_credentials (id, kind, name, secret_hash, project, scopes, created_at,
                    expires_at\(sql: Kind.columns))
                \(sql: rows)
                RETURNING true
                """,
                recording: AuditEntry(
                    action,
                    in: project.map { Scope(project: $0) },
                    resource: credential.id,
                    changes: scopes,
                    at: now()
                ),
                adding: Kind.isConfiguration ? project : nil
            )
        } catch let error as PostgresError where error.sqlState == "23505" {
            throw ConfigurationError.alreadyExists
        }
    }

    func newCredentialID() -> String { random.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789") }

    /// All of a project, or of all projects and of none, including revoked ones.
    package func list<Kind: AdminCredentialKind>(
        _: Kind.Type,
        of project: ProjectID? = nil
    ) async throws -> [Listed<Kind>] {
        try await readCredentials(where: "\(project?.rawValue)::text IS NULL OR project = \(project?.rawValue)")
    }

    /// All that are not revoked.
    func current<Kind: AdminCredentialKind>(_: Kind.Type) async throws -> [Kind] {
        try await readCredentials(where: "NOT disabled").map(\.credential)
    }

    private func readCredentials<Kind: AdminCredentialKind>(where condition: SQL) async throws -> [Listed<Kind>] {
        try await database.query(
            """
            SELECT id, name, project, scopes, expires_at, disabled, created_at, last_used_at\(sql: Kind.selected)
            FROM admin_credentials WHERE kind = \(Kind.kind) AND (\(sql: condition)) ORDER BY created_at, id
            """
        ) { row -> Listed<Kind>? in
            let credential = try Self.credential(&row)
            let (createdAt, lastUsedAt): (Date, Date?) = (try row.next(), try row.next())
            guard let credential, let credential = try Kind(credential, &row) else { return nil }
            return Listed(credential: credential, createdAt: createdAt, lastUsedAt: lastUsedAt)
        }.compactMap(\.self)
    }

    /// Revokes one on all nodes: an admin key at once, the others within half a second, their access tokens at once.
    ///
    /// - Parameter project: nil for any.
    /// - Throws: ``ConfigurationError/notFound``.
    package func revoke<Kind: AdminCredentialKind>(
        _: Kind.Type,
        _ id: String,
        of project: ProjectID? = nil
    ) async throws {
        try await changing(
            """
            UPDATE admin_credentials SET disabled = true
            WHERE id = \(id) AND kind = \(Kind.kind) AND NOT disabled
                AND (\(project?.rawValue)::text IS NULL OR project = \(project?.rawValue))
            RETURNING project
            """,
            recording: AuditEntry(Kind.revoked, in: nil, resource: id, at: now()),
            ofRows: true,
            revoking: project
        )
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
