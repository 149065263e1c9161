package import OAuth
import Postgres
package import Projects
import Secrets
import StrictJSON
import Synchronization
package import struct Foundation.Date

/// The applications of all projects.
///
/// They may be many, so a node knows only those that it has met, until the configuration changes.
package final class OAuthClientStore: Sendable {
    private let configuration: ConfigurationStore
    private let known = Mutex(Known())

    private struct Known {
        var version = ConfigurationVersion.none
        var clients: [Key: Listed] = [:]
    }

    private struct Key: Hashable {
        var project: ProjectID
        var client: String
    }

    /// The most clients that a node remembers.
    private static let limit = 1_024

    init(configuration: ConfigurationStore) { self.configuration = configuration }

    /// Nil if the project has no such client, or blocks it; an admin's change applies on every node within half a second.
    package func client(_ id: String, of project: ProjectID) async throws -> OAuthClient? {
        guard let client = try await find(id, of: project)?.client, client.origin != .blocked else { return nil }
        return client
    }

    /// Blocked ones too.
    package func find(_ id: String, of project: ProjectID) async throws -> Listed? {
        guard id.utf8.count <= 512 else { return nil }
        let key = Key(project: project, client: id)
        // Read before the row, so that what changes in between is read again.
        let version = configuration.snapshot.version
        let found = known.withLock { $0.version == version ? $0.clients[key] : nil }
        if let found { return found }
        guard let client = try await list(of: project, only: id).first else { return nil }
        remember(client, key, at: version)
        return client
    }

    private func remember(_ client: Listed, _ key: Key, at version: ConfigurationVersion) {
        known.withLock { known in
            if known.version != version || known.clients.count >= Self.limit { known = Known(version: version) }
            known.clients[key] = client
        }
    }

    private func forget(_ key: Key) { known.withLock { $0.clients[key] = nil } }

    package struct Listed: Sendable {
        package var client: OAuthClient
        package var createdAt: Date
        /// For a document: when it was read.
        package var updatedAt: Date
    }

    /// The clients of a project, by ID.
    ///
    /// - Parameter after: the last ID of the page before; nil for the first page.
    package func list(of project: ProjectID, after: String?, limit: Int) async throws -> [Listed] {
        try await configuration.database.query(
            """
            SELECT \(sql: Self.columns) FROM oauth_clients
            WHERE project = \(project.rawValue) AND client > \(after ?? "") ORDER BY client LIMIT \(limit)
            """,
            Self.decode
        )
    }

    private func list(of project: ProjectID, only id: String?) async throws -> [Listed] {
        try await configuration.database.query(Self.selection(of: project, only: id, locked: false), Self.decode)
    }

    private static func selection(of project: ProjectID, only id: String?, locked: Bool) -> SQL {
        """
        SELECT \(sql: columns) FROM oauth_clients
        WHERE project = \(project.rawValue) AND (\(id)::text IS NULL OR client = \(id))
        ORDER BY client \(sql: locked ? "FOR UPDATE" : "")
        """
    }

    private static let columns: SQL = """
        client, metadata::text, secret_hash, trusted, origin, created_at, updated_at
        """

    private static func decode(_ row: inout PostgresRow) throws -> Listed {
        let (id, metadata): (String, String) = (try row.next(), try row.next())
        let (secretHash, isTrusted): ([UInt8]?, Bool) = (try row.next(), try row.next())
        let origin: String = try row.next()
        guard let object = try JSONValue(parsing: metadata).object,
            let origin = OAuthClient.Origin(rawValue: origin)
        else { throw ConfigurationError.unreadable(id) }
        let client = OAuthClient(
            id: id,
            metadata: try ClientMetadata(object),
            secretHash: secretHash,
            isTrusted: isTrusted,
            origin: origin
        )
        return Listed(client: client, createdAt: try row.next(), updatedAt: try row.next())
    }

    package func create(_ client: OAuthClient, in project: ProjectID) async throws {
        let now = configuration.now()
        try await configuration.changing(
            """
            INSERT INTO oauth_clients (project, client, metadata, secret_hash, trusted, origin, created_at, updated_at)
            VALUES (\(project.rawValue), \(client.id), \(Self.text(of: client))::jsonb, \(client.secretHash),
                \(client.isTrusted), \(client.origin.rawValue), \(now), \(now))
            RETURNING client
            """,
            recording: AuditEntry(.clientCreated, in: Scope(project: project), resource: client.id, at: now)
        )
    }

    /// Changes a client, except its ID and its secret; simultaneous changes do not undo each other.
    ///
    /// - Throws: ``ConfigurationError/notFound``, and what `change` throws.
    package func update(
        _ id: String,
        of project: ProjectID,
        _ change: @escaping @Sendable (inout OAuthClient) throws -> Void
    ) async throws -> OAuthClient {
        let now = configuration.now()
        let changed = try await configuration.database.transaction { transaction in
            let found = try await transaction.query(Self.selection(of: project, only: id, locked: true), Self.decode)
            guard var client = found.first?.client else { throw ConfigurationError.notFound }
            try change(&client)
            let entry = AuditEntry(.clientChanged, in: Scope(project: project), resource: id, at: now)
            let statement: SQL = """
                UPDATE oauth_clients SET metadata = \(Self.text(of: client))::jsonb, trusted = \(client.isTrusted),
                    origin = \(client.origin.rawValue), updated_at = \(now),
                    registration_hash = CASE WHEN NOT \(client.isVouchedFor) THEN registration_hash END,
                    expires_at = CASE WHEN NOT \(client.isVouchedFor) THEN expires_at END
                WHERE project = \(project.rawValue) AND client = \(id)
                """
            try await transaction.execute(ConfigurationStore.recorded(statement, entry))
            return client
        }
        try await configuration.load()
        return changed
    }

    /// Its users' grants end with it, because every use of one asks for the client.
    ///
    /// One whose ID is the URL of its document is blocked: otherwise its next use would bring it back.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func delete(_ id: String, of project: ProjectID) async throws {
        let blocked = OAuthClient.Origin.blocked.rawValue
        let change: SQL =
            ClientDocument.isNamed(id)
            ? "UPDATE oauth_clients SET origin = \(blocked), trusted = false, expires_at = NULL"
            : "DELETE FROM oauth_clients"
        try await configuration.changing(
            """
            \(sql: change) WHERE project = \(project.rawValue) AND client = \(id) AND origin <> \(blocked) RETURNING client
            """,
            recording: AuditEntry(
                .clientDeleted,
                in: Scope(project: project),
                resource: id,
                at: configuration.now()
            )
        )
    }

    // MARK: Clients that nobody of the project chose

    /// Registers a client that asked for it (RFC 7591).
    ///
    /// The configuration's version stays: no node knows the new ID, and anybody may cause this.
    ///
    /// - Parameters:
    ///   - registrationHash: of the token with which the client manages its registration.
    ///   - end: when it is forgotten, unless a user has granted it something.
    /// - Throws: ``RateLimitReached``.
    package func register(
        _ client: OAuthClient,
        registrationHash: [UInt8],
        until end: Date,
        within limits: RateLimits,
        in project: ProjectID
    ) async throws {
        let now = configuration.now()
        let entry = AuditEntry(.clientCreated, in: Scope(project: project), resource: client.id, at: now)
        let passed = try await configuration.database.query(
            """
            WITH \(sql: limits.taking), made AS (
                INSERT INTO oauth_clients (project, client, metadata, secret_hash, origin, registration_hash, expires_at,
                    created_at, updated_at)
                SELECT \(project.rawValue), \(client.id), \(Self.text(of: client))::jsonb, \(client.secretHash),
                    \(client.origin.rawValue), \(registrationHash), \(end), \(now), \(now)
                FROM limits WHERE \(sql: limits.havePassed)
                RETURNING client
            ), audit AS (\(sql: entry.insertion(from: "made")))
            SELECT passed FROM limits
            """
        ) { row in try row.next(Int64.self) }
        try limits.check(passed: passed.first ?? 0)
    }

    /// Whether the hash is that of the client's own token.
    package func isRegistered(_ id: String, by hash: [UInt8], of project: ProjectID) async throws -> Bool {
        try await !configuration.database.query(
            """
            SELECT true FROM oauth_clients
            WHERE project = \(project.rawValue) AND client = \(id) AND registration_hash = \(hash)
            """
        ) { row in try row.next(Bool.self) }.isEmpty
    }

    /// Stores what a client's document says now.
    ///
    /// - Parameter end: when it is forgotten, if nobody reads it again.
    /// - Returns: false if an admin has blocked or changed the client: then nothing is stored.
    package func keep(_ document: OAuthClient, until end: Date, in project: ProjectID) async throws -> Bool {
        let now = configuration.now()
        let kept = try await configuration.database.query(
            """
            INSERT INTO oauth_clients AS c (project, client, metadata, origin, expires_at, created_at, updated_at)
            VALUES (\(project.rawValue), \(document.id), \(Self.text(of: document))::jsonb,
                \(document.origin.rawValue), \(end), \(now), \(now))
            ON CONFLICT (project, client) DO UPDATE SET metadata = excluded.metadata,
                expires_at = excluded.expires_at, updated_at = excluded.updated_at
            WHERE c.origin = excluded.origin
            RETURNING true
            """
        ) { row in try row.next(Bool.self) }
        forget(Key(project: project, client: document.id))
        return !kept.isEmpty
    }

    /// Forgets a client whose document is no longer there, and ends what users granted it: a later document at its URL may
    /// be somebody else's.
    package func withdraw(_ id: String, in project: ProjectID) async throws {
        let now = configuration.now()
        let entry = AuditEntry(.clientDeleted, in: Scope(project: project), resource: id, at: now)
        try await configuration.database.execute(
            """
            WITH gone AS (
                DELETE FROM oauth_clients
                WHERE project = \(project.rawValue) AND client = \(id)
                    AND origin = \(OAuthClient.Origin.document.rawValue)
                RETURNING project, client
            ), audit AS (\(sql: entry.insertion(from: "gone")))
            UPDATE sessions s SET revoked_at = \(now) FROM gone g
            WHERE s.project = g.project AND s.client = g.client AND s.revoked_at IS NULL
            """
        )
        forget(Key(project: project, client: id))
    }

    // MARK: Proofs

    /// Whether this is the first use of a signed proof.
    ///
    /// - Parameters:
    ///   - hash: SHA-256 of what was signed.
    ///   - end: from when nobody accepts it any more.
    package func use(_ hash: [UInt8], until end: Date, in project: ProjectID) async throws -> Bool {
        do {
            try await configuration.database.execute(
                """
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                VALUES (\(project.rawValue), \(hash), \(end))
                """
            )
            return true
        } catch let error as PostgresError where error.constraint == "used_id_tokens_pkey" {
            return false
        }
    }

    /// Whether ``use(_:until:in:)`` would say that it was used.
    package func isUsed(_ hash: [UInt8], in project: ProjectID) async throws -> Bool {
        try await !configuration.database.query(
            "SELECT true FROM used_id_tokens WHERE project = \(project.rawValue) AND token_hash = \(hash)"
        ) { row in try row.next(Bool.self) }.isEmpty
    }

    private static func text(of client: OAuthClient) -> String { JSONObject(client.metadata.members).jsonText }
}
