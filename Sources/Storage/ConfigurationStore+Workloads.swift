import Domain
import Postgres
package import Projects
import Secrets
import StrictJSON
package import struct Foundation.Date

extension ConfigurationStore {
    /// Registers a workload on every node within half a second.
    ///
    /// - Returns: with its new ID.
    package func createWorkload(_ workload: Workload) async throws -> Workload {
        var workload = workload
        workload.id = random.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        let claims = JSONObject(
            workload.claims.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }
        )
        // It has no secret, and no token has this hash.
        let hash = SecureHash.sha256(random.handle())
        try await changing(
            """
            INSERT INTO admin_credentials (id, kind, name, secret_hash, project, scopes, created_at, expires_at,
                issuer, jwks, audience, claims, token_lifetime)
            VALUES (\(workload.id), 'workload', \(workload.name), \(hash), \(workload.project?.rawValue),
                \(workload.scopes.map(\.rawValue).sorted()), \(now()),
                to_timestamp(\(workload.expiresAt.map { Double($0) })), \(workload.issuer), \(workload.jwks),
                \(workload.audience), \(JSONValue.object(claims).jsonText)::jsonb, \(workload.tokenLifetime))
            RETURNING id
            """,
            recording: AuditEntry(
                .workloadCreated,
                in: workload.project.map { Scope(project: $0) },
                resource: workload.id,
                changes: workload.scopes.map(\.rawValue).sorted(),
                at: now()
            ),
            adding: workload.project
        )
        return workload
    }

    package struct ListedWorkload: Sendable {
        package var workload: Workload
        package var createdAt: Date
        /// The last use of one of its access tokens, to the minute.
        package var lastUsedAt: Date?
        package var disabled: Bool
    }

    /// All workloads of a project, or of all, including revoked ones.
    package func listWorkloads(of project: ProjectID? = nil) async throws -> [ListedWorkload] {
        try await readWorkloads(where: "(\(project?.rawValue)::text IS NULL OR project = \(project?.rawValue))")
    }

    /// - Parameter project: nil for any.
    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeWorkload(_ id: String, of project: ProjectID? = nil) async throws {
        try await revoke(id, "workload", of: project, .workloadRevoked)
    }

    /// Records that a workload's token was exchanged, for all projects and nodes.
    ///
    /// - Parameters:
    ///   - token: its hash.
    ///   - end: seconds since 1970; until then no other exchange succeeds.
    /// - Returns: false if it was exchanged before, or if the workload is revoked.
    package func exchangeToken(
        _ token: [UInt8],
        until end: Int64,
        of workload: Workload,
        for scopes: Set<AdminScope>
    ) async throws -> Bool {
        let entry = AuditEntry(
            .accessTokenGranted,
            in: workload.project.map { Scope(project: $0) },
            resource: workload.id,
            changes: scopes.map(\.rawValue).sorted(),
            at: now()
        )
        let statement: SQL = """
            WITH used AS (
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                SELECT '', \(token), to_timestamp(\(Double(end))) FROM admin_credentials
                WHERE id = \(workload.id) AND kind = 'workload' AND NOT disabled
                RETURNING project
            ), audit AS (\(sql: entry.insertion(from: "used")))
            SELECT count(*) FROM used
            """
        do {
            return try await database.query(statement) { try $0.next(Int64.self) }.first == 1
        } catch let error as PostgresError where error.constraint == "used_id_tokens_pkey" {
            return false
        }
    }

    func readWorkloads(where condition: SQL) async throws -> [ListedWorkload] {
        try await database.query(
            """
            SELECT id, name, project, scopes, expires_at, disabled, created_at, last_used_at, issuer, jwks, audience,
                claims::text, token_lifetime
            FROM admin_credentials WHERE kind = 'workload' AND \(sql: condition) ORDER BY created_at, id
            """
        ) { row in
            let credential = try Self.credential(&row)
            let (createdAt, lastUsedAt): (Date, Date?) = (try row.next(), try row.next())
            let (issuer, jwks, audience): (String?, String?, String?) = (try row.next(), try row.next(), try row.next())
            let (claims, lifetime): (String?, Int64?) = (try row.next(), try row.next())
            guard let credential, let issuer, let audience, let lifetime,
                let claims = claims.flatMap({ try? JSONValue(parsing: Array($0.utf8)) })?.object
            else { return nil }
            let values = claims.members.map { ($0.name, $0.value.string) }
            // A condition that cannot be read must not be left out.
            guard values.allSatisfy({ $0.1 != nil }) else { return nil }
            let workload = Workload(
                id: credential.id,
                name: credential.name,
                project: credential.project,
                issuer: issuer,
                jwks: jwks,
                audience: audience,
                claims: Dictionary(values.map { ($0, $1 ?? "") }) { first, _ in first },
                scopes: credential.scopes,
                tokenLifetime: lifetime,
                expiresAt: credential.expiresAt
            )
            return ListedWorkload(
                workload: workload,
                createdAt: createdAt,
                lastUsedAt: lastUsedAt,
                disabled: credential.disabled
            )
        }.compactMap(\.self)
    }
}
