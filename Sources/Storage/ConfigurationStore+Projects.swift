package import Foundation
package import Postgres
package import Projects
package import Secrets

extension ConfigurationStore {
    /// Creates a project with a random number and its own password signer key.
    ///
    /// It starts empty: rows that a node wrote while a project with this ID was being deleted are deleted first.
    ///
    /// - Throws: ``ConfigurationError/alreadyExists``.
    @discardableResult
    package func createProject(_ id: ProjectID, settings: ProjectSettings) async throws -> Project {
        let number = ProjectNumber(
            rawValue: Int64(random.text(1, of: "123456789") + random.text(11, of: "0123456789")) ?? 0
        )
        let signerKey = Secret(Data(random.bytes(64)).base64EncodedString())
        let sealed = try keyRing.seal(signerKey, for: Self.signerKeyPlace(id))
        let config = try Self.text(of: settings)
        let delivery = try keyRing.seal(json: settings.delivery, for: Self.deliveryPlace(id))
        do {
            let insertion: SQL = """
                INSERT INTO projects (project, number, config, delivery, password_signer_key, created_at)
                VALUES (\(id.rawValue), \(number.rawValue), \(config)::jsonb, \(delivery), \(sealed), \(now()))
                """
            let entry = AuditEntry(.projectCreated, in: Scope(project: id), at: now())
            try await database.transaction { transaction in
                transaction.write(insertion)
                try await Self.deleteRows(of: id, transaction)
                transaction.write(entry.insertion())
                transaction.write(Self.nextVersion)
            }
            try await load()
        } catch let error as PostgresError where error.constraint == "projects_pkey" {
            throw ConfigurationError.alreadyExists
        }
        return Project(id: id, number: number, settings: settings, passwordSignerKey: signerKey)
    }

    /// The project with an API key; creates either if it does not exist.
    package func ensureProject(_ id: ProjectID, settings: ProjectSettings) async throws -> Project {
        if let project = snapshot.project(id), snapshot.apiKey(of: id) != nil { return project }
        if snapshot.project(id) == nil {
            do {
                _ = try await createProject(id, settings: settings)
            } catch ConfigurationError.alreadyExists {
                try await load()
            }
        }
        if snapshot.apiKey(of: id) == nil { _ = try await createAPIKey(for: id, displayName: "default") }
        guard let project = snapshot.project(id) else { throw ConfigurationError.notFound }
        return project
    }

    /// Changes a project's settings; simultaneous changes do not undo each other, and a change without effect writes
    /// nothing.
    ///
    /// - Parameter change: returns the names of the members that it changed, for the audit log.
    /// - Throws: ``ConfigurationError/alreadyExists`` for a public URL of another project; what `change` throws.
    package func updateSettings(
        of id: ProjectID,
        _ change: @escaping @Sendable (inout ProjectSettings) throws -> [String]
    ) async throws -> Project {
        do {
            try await writeSettings(of: id, change)
        } catch let error as PostgresError where error.constraint == "projects_public_url_idx" {
            throw ConfigurationError.alreadyExists
        }
        try await load()
        guard let project = snapshot.project(id) else { throw ConfigurationError.notFound }
        return project
    }

    private func writeSettings(
        of id: ProjectID,
        _ change: @escaping @Sendable (inout ProjectSettings) throws -> [String]
    ) async throws {
        try await transactionInTurn(of: id) { transaction in
            let rows = try await transaction.query(
                "SELECT config::text, delivery FROM projects WHERE project = \(id.rawValue) FOR UPDATE"
            ) { row in (try row.next(String.self), try row.next([UInt8]?.self)) }
            guard let (config, sealed) = rows.first else { throw ConfigurationError.notFound }
            let before = try readSettings(from: config, sealed, of: id)
            var settings = before
            let members = try change(&settings)
            guard settings != before else { return }
            let delivery = try keyRing.seal(json: settings.delivery, for: Self.deliveryPlace(id))
            let entry = AuditEntry(.settingsChanged, in: Scope(project: id), changes: members, at: now())
            let text = try Self.text(of: settings)
            let statement: SQL = """
                UPDATE projects SET config = \(text)::jsonb, delivery = \(delivery),
                    version = version + 1
                WHERE project = \(id.rawValue)
                """
            try await Self.keepingSize(of: id, transaction) {
                Self.record(written: statement, entry, transaction)
            }
        }
    }

    /// Gives a project the key of imported password hashes, if it has no hashes of its own yet.
    ///
    /// - Returns: whether the project has this key now.
    package func adoptPasswordSignerKey(_ key: Secret, of id: ProjectID) async throws -> Bool {
        let sealed = try keyRing.seal(key, for: Self.signerKeyPlace(id))
        let entry = AuditEntry(.settingsChanged, in: Scope(project: id), changes: ["passwordSignerKey"], at: now())
        struct HasHashes: Error {}
        do {
            try await transactionInTurn(of: id) { transaction in
                let changed = try await transaction.execute(
                    """
                    UPDATE projects SET password_signer_key = \(sealed), version = version + 1
                    WHERE project = \(id.rawValue)
                    """
                )
                // On their own, because users' rows may lie on another machine than the project's.
                let hashes = try await transaction.query(
                    "SELECT true FROM accounts WHERE project = \(id.rawValue) AND password_hash IS NOT NULL LIMIT 1"
                ) { try $0.next(Bool.self) }
                guard changed > 0, hashes.isEmpty else { throw HasHashes() }
                transaction.write(entry.insertion())
                transaction.write(Self.nextVersion)
            }
        } catch is HasHashes {
            // Another node may have given it this one.
        }
        try await load()
        return snapshot.project(id)?.passwordSignerKey == key
    }

    /// All tables whose rows belong to a project.
    package static let tablesOfProjects: [SQL] = [
        "accounts", "account_activity", "account_emails", "account_phones", "account_passkeys", "credential_subjects",
        "linked_credentials", "sessions", "flows", "pending_credentials", "used_id_tokens", "outbox", "api_keys",
        "provider_configurations", "admin_credentials", "detached_credentials", "kept_names", "provider_events",
        "oob_codes", "verification_codes", "rate_limits", "password_configurations", "tenants", "account_merges",
        "sign_in_counts", "oauth_clients", "ended_clients", "device_codes",
    ]

    /// Deletes a project with everything that belongs to it.
    ///
    /// The audit log stays.
    package func deleteProject(_ id: ProjectID) async throws {
        let entry = AuditEntry(.projectDeleted, in: Scope(project: id), at: now())
        let isFound = try await database.transaction { transaction in
            try await Self.deleteRows(of: id, transaction)
            guard try await transaction.execute("DELETE FROM projects WHERE project = \(id.rawValue)") > 0 else {
                return false
            }
            transaction.write(entry.insertion())
            transaction.write(Self.nextVersion)
            return true
        }
        try await load()
        guard isFound else { throw ConfigurationError.notFound }
    }

    /// Deletes what nodes wrote to a project before they knew of its deletion; nothing if the project exists again.
    package func deleteLeftovers(of id: ProjectID) async throws {
        try await database.transaction { transaction in
            let exists = try await transaction.query(
                "SELECT FROM projects WHERE project = \(id.rawValue) FOR SHARE"
            ) { _ in true }
            guard exists.isEmpty else { return }
            try await Self.deleteRows(of: id, transaction)
        }
    }

    private static func deleteRows(of id: ProjectID, _ transaction: PostgresTransaction) async throws {
        for table in tablesOfProjects {
            try await transaction.execute("DELETE FROM \(sql: table) WHERE project = \(id.rawValue)")
        }
    }

    /// Creates an API key: `AIza` and 35 random characters.
    package func createAPIKey(for project: ProjectID, displayName: String?) async throws -> APIKey {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let key = APIKey(rawValue: "AIza" + random.text(35, of: alphabet))
        try await changing(
            """
            INSERT INTO api_keys (key, project, display_name, created_at)
            SELECT \(key.rawValue), project, \(displayName), \(now()) FROM projects
            WHERE project = \(project.rawValue)
            RETURNING true
            """,
            recording: AuditEntry(.apiKeyCreated, in: Scope(project: project), resource: key.rawValue, at: now()),
            adding: project
        )
        return key
    }

    package struct ListedAPIKey: Sendable {
        package var key: APIKey
        package var displayName: String?
        package var createdAt: Date
        package var revokedAt: Date?
    }

    package func listAPIKeys(of project: ProjectID) async throws -> [ListedAPIKey] {
        try await database.query(
            """
            SELECT key, display_name, created_at, revoked_at FROM api_keys
            WHERE project = \(project.rawValue) ORDER BY created_at, key
            """
        ) { row in
            ListedAPIKey(
                key: APIKey(rawValue: try row.next()),
                displayName: try row.next(),
                createdAt: try row.next(),
                revokedAt: try row.next()
            )
        }
    }

    /// - Parameter project: nil for any.
    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeAPIKey(_ key: APIKey, of project: ProjectID? = nil) async throws {
        try await changing(
            """
            UPDATE api_keys SET revoked_at = \(now())
            WHERE key = \(key.rawValue) AND revoked_at IS NULL AND project = coalesce(\(project?.rawValue), project)
            RETURNING project
            """,
            recording: AuditEntry(.apiKeyRevoked, in: nil, resource: key.rawValue, at: now()),
            ofRows: true,
            revoking: project
        )
    }

    /// All projects with their tenants.
    func readProjects() async throws -> [Project] {
        let tenants = try await readTenants()
        let rows = try await database.query(
            "SELECT project, number, config::text, delivery, password_signer_key FROM projects"
        ) { row in
            (
                try row.next(String.self), try row.next(Int64.self), try row.next(String.self),
                try row.next([UInt8]?.self), try row.next([UInt8].self)
            )
        }
        let projects = rows.compactMap { id, number, config, delivery, signerKey in
            readable("project \(id)") {
                guard let id = ProjectID(rawValue: id) else { throw ConfigurationError.unreadable("its id") }
                return Project(
                    id: id,
                    number: ProjectNumber(rawValue: number),
                    settings: try readSettings(from: config, delivery, of: id),
                    passwordSignerKey: try keyRing.openSecret(signerKey, for: Self.signerKeyPlace(id)),
                    tenants: tenants[id.rawValue] ?? []
                )
            }
        }
        noteProjects(found: rows.count, read: projects.count)
        return projects
    }

    private static func signerKeyPlace(_ id: ProjectID) -> String { "projects/\(id)/password_signer_key" }

    private static func deliveryPlace(_ id: ProjectID) -> String { "projects/\(id)/delivery" }

    /// A version that differs for different settings, except for sealed values.
    package func version(of settings: ProjectSettings) throws -> String {
        Base64URL.encode(SecureHash.sha256(try Self.text(of: settings)))
    }

    /// All settings except sealed values.
    private static func text(of settings: ProjectSettings) throws -> String {
        var settings = settings
        settings.delivery = DeliverySettings()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(settings), as: UTF8.self)
    }

    private func readSettings(from text: String, _ delivery: [UInt8]?, of id: ProjectID) throws -> ProjectSettings {
        var settings = try JSONDecoder().decode(ProjectSettings.self, from: Data(text.utf8))
        if let delivery { settings.delivery = try keyRing.openJSON(delivery, for: Self.deliveryPlace(id)) }
        return settings
    }
}
