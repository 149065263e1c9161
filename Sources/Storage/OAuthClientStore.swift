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
    private var ended: EndedClients { EndedClients(database: configuration.database, now: configuration.now) }
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
        /// Since when its document is gone; nil while it is there.
        package var missingSince: Date?
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
        client, metadata::text, secret_hash, trusted, origin, created_at, updated_at, missing_since
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
            // Nobody else's is the project's own, whatever the row says.
            isTrusted: isTrusted && origin == .admin,
            origin: origin
        )
        return Listed(
            client: client,
            createdAt: try row.next(),
            updatedAt: try row.next(),
            missingSince: try row.next()
        )
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

    /// Changes a client, except its ID and its secret; simultaneous changes do not undo each other, and one without effect
    /// writes nothing.
    ///
    /// - Parameter byItself: whether the client changes itself.
    /// - Throws: ``ConfigurationError/notFound``, and what `change` throws; ``ConfigurationError/endingGrants``.
    package func update(
        _ id: String,
        of project: ProjectID,
        byItself: Bool = false,
        _ change: @escaping @Sendable (inout OAuthClient) throws -> Void
    ) async throws -> OAuthClient {
        let now = configuration.now()
        let changed = try await configuration.transactionInTurn(of: project, through: gate(byItself)) { transaction in
            let found = try await transaction.query(Self.selection(of: project, only: id, locked: true), Self.decode)
            guard let before = found.first?.client else { throw ConfigurationError.notFound }
            var client = before
            try change(&client)
            guard client != before else { return client }
            if before.origin == .blocked {
                let isFree = try await transaction.query("SELECT \(sql: EndedClients.isFree(id, in: project))") {
                    try $0.next(Bool.self)
                }
                guard isFree == [true] else { throw ConfigurationError.endingGrants }
            }
            let entry = AuditEntry(.clientChanged, in: Scope(project: project), resource: id, at: now)
            let statement: SQL = """
                UPDATE oauth_clients SET metadata = \(Self.text(of: client))::jsonb, trusted = \(client.isTrusted),
                    origin = \(client.origin.rawValue), updated_at = \(now),
                    registration_hash = CASE WHEN NOT \(client.isVouchedFor) THEN registration_hash END,
                    expires_at = CASE WHEN NOT \(client.isVouchedFor) THEN expires_at END
                WHERE project = \(project.rawValue) AND client = \(id)
                """
            ConfigurationStore.record(written: statement, entry, transaction)
            return client
        }
        try await configuration.load()
        return changed
    }

    private func gate(_ byItself: Bool) -> ProjectGate {
        byItself ? configuration.changesByClients : configuration.changes
    }

    /// Its users' grants end with it.
    ///
    /// One whose ID is the URL of its document is blocked: otherwise its next use would bring it back.
    ///
    /// - Parameter registrationHash: of the client's own token, if it deletes itself: then it must still be its own.
    /// - Throws: ``ConfigurationError/notFound``.
    package func delete(
        _ id: String,
        registeredWith registrationHash: [UInt8]? = nil,
        of project: ProjectID
    ) async throws {
        let blocked = OAuthClient.Origin.blocked.rawValue
        let isIt: SQL = """
            project = \(project.rawValue) AND client = \(id) AND origin <> \(blocked)
                AND (\(registrationHash)::bytea IS NULL OR registration_hash = \(registrationHash))
            """
        // Locked as a deletion locks it, so that no code is redeemed meanwhile (`SessionStore.open`).
        let change: SQL =
            ClientDocument.isNamed(id)
            ? """
            UPDATE oauth_clients c SET origin = \(blocked), trusted = false, expires_at = NULL
            FROM (SELECT project, client FROM oauth_clients WHERE \(sql: isIt) FOR UPDATE) l
            WHERE c.project = l.project AND c.client = l.client RETURNING c.client
            """
            : "DELETE FROM oauth_clients WHERE \(sql: isIt) RETURNING client"
        let now = configuration.now()
        let entry = AuditEntry(.clientDeleted, in: Scope(project: project), resource: id, at: now)
        try await configuration.changing(
            change,
            recording: entry,
            of: project,
            through: gate(registrationHash != nil),
            then: EndedClients.noting(id, in: project, at: now)
        )
        // The client is gone, whatever happens now: the sweeper ends what is left.
        try? await ended.end(of: id, in: project)
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
    /// - Returns: false if an admin has blocked or changed the client, or what users granted an earlier one has not ended yet:
    ///   then nothing is stored.
    package func keep(_ document: OAuthClient, until end: Date, in project: ProjectID) async throws -> Bool {
        let now = configuration.now()
        let kept = try await configuration.database.query(
            """
            INSERT INTO oauth_clients AS c (project, client, metadata, origin, expires_at, created_at, updated_at)
            SELECT \(project.rawValue), \(document.id), \(Self.text(of: document))::jsonb,
                \(document.origin.rawValue), \(end), \(now), \(now)
            WHERE \(sql: EndedClients.isFree(document.id, in: project))
            ON CONFLICT (project, client) DO UPDATE SET metadata = excluded.metadata,
                expires_at = excluded.expires_at, updated_at = excluded.updated_at, missing_since = NULL
            WHERE c.origin = excluded.origin
            RETURNING true
            """
        ) { row in try row.next(Bool.self) }
        forget(Key(project: project, client: document.id))
        return !kept.isEmpty
    }

    /// Notes that a client's document is gone; when that is seen again an hour later, forgets the client, and ends what
    /// users granted it: a later document at its URL may be somebody else's.
    ///
    /// A site may be wrong for a moment, so once is not enough (threats.md, T-F20).
    ///
    /// - Parameter known: as it was before its document was asked for; nothing happens if it has changed since.
    /// - Returns: whether it is forgotten.
    package func miss(_ known: Listed, in project: ProjectID) async throws -> Bool {
        let (id, now) = (known.client.id, configuration.now())
        let unchanged: SQL = """
            project = \(project.rawValue) AND client = \(id) AND origin = \(OAuthClient.Origin.document.rawValue)
                AND updated_at = \(known.updatedAt)
            """
        let end = now.addingTimeInterval(-ClientDocument.missingSeconds)
        guard let since = known.missingSince else {
            try await configuration.database.execute(
                "UPDATE oauth_clients SET missing_since = \(now) WHERE \(sql: unchanged) AND missing_since IS NULL"
            )
            forget(Key(project: project, client: id))
            return false
        }
        guard since <= end else { return false }
        let entry = AuditEntry(.clientDeleted, in: Scope(project: project), resource: id, at: now)
        let isGone = try await configuration.database.transaction { transaction in
            let gone = try await transaction.query(
                """
                WITH gone AS (
                    DELETE FROM oauth_clients WHERE \(sql: unchanged) AND missing_since <= \(end) RETURNING client
                ), audit AS (\(sql: entry.insertion(from: "gone")))
                SELECT count(*) FROM gone
                """
            ) { row in try row.next(Int64.self) }
            guard gone.first == 1 else { return false }
            transaction.write(EndedClients.noting(id, in: project, at: now))
            return true
        }
        forget(Key(project: project, client: id))
        if isGone { try await ended.end(of: id, in: project) }
        return isGone
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
