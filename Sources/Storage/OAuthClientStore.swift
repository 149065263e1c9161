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
        var version: Int64 = -1
        var clients: [Key: OAuthClient] = [:]
    }

    private struct Key: Hashable {
        var project: ProjectID
        var client: String
    }

    /// The most clients that a node remembers.
    private static let limit = 4_096

    init(configuration: ConfigurationStore) { self.configuration = configuration }

    /// Nil if the project has no such client; a change applies on every node within half a second.
    package func client(_ id: String, of project: ProjectID) async throws -> OAuthClient? {
        guard id.utf8.count <= 256 else { return nil }
        let key = Key(project: project, client: id)
        // Read before the row, so that what changes in between is read again.
        let version = configuration.snapshot.version
        let found = known.withLock { $0.version == version ? $0.clients[key] : nil }
        if let found { return found }
        guard let client = try await list(of: project, only: id).first?.client else { return nil }
        known.withLock { known in
            if known.version != version || known.clients.count >= Self.limit {
                known = Known(version: version)
            }
            known.clients[key] = client
        }
        return client
    }

    package struct Listed: Sendable {
        package var client: OAuthClient
        package var createdAt: Date
    }

    /// All clients of a project, by ID.
    package func list(of project: ProjectID) async throws -> [Listed] { try await list(of: project, only: nil) }

    private func list(of project: ProjectID, only id: String?) async throws -> [Listed] {
        try await configuration.database.query(
            """
            SELECT client, metadata::text, secret_hash, trusted, created_at FROM oauth_clients
            WHERE project = \(project.rawValue) AND (\(id)::text IS NULL OR client = \(id))
            ORDER BY client
            """
        ) { row in
            let (id, metadata): (String, String) = (try row.next(), try row.next())
            let (secretHash, isTrusted): ([UInt8]?, Bool) = (try row.next(), try row.next())
            let createdAt: Date = try row.next()
            guard let object = try JSONValue(parsing: metadata).object else { throw ConfigurationError.unreadable(id) }
            let client = OAuthClient(
                id: id,
                metadata: try ClientMetadata(object),
                secretHash: secretHash,
                isTrusted: isTrusted
            )
            return Listed(client: client, createdAt: createdAt)
        }
    }

    package func create(_ client: OAuthClient, in project: ProjectID) async throws {
        let now = configuration.now()
        try await configuration.changing(
            """
            INSERT INTO oauth_clients (project, client, metadata, secret_hash, trusted, created_at, updated_at)
            VALUES (\(project.rawValue), \(client.id), \(Self.text(of: client))::jsonb, \(client.secretHash),
                \(client.isTrusted), \(now), \(now))
            RETURNING client
            """,
            recording: AuditEntry(.clientCreated, in: Scope(project: project), resource: client.id, at: now)
        )
    }

    /// Changes everything but the secret.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func update(_ client: OAuthClient, in project: ProjectID) async throws {
        let now = configuration.now()
        try await configuration.changing(
            """
            UPDATE oauth_clients SET metadata = \(Self.text(of: client))::jsonb, trusted = \(client.isTrusted),
                updated_at = \(now)
            WHERE project = \(project.rawValue) AND client = \(client.id)
            RETURNING client
            """,
            recording: AuditEntry(.clientChanged, in: Scope(project: project), resource: client.id, at: now)
        )
    }

    /// Its users' grants end with it, because every use of one asks for the client.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func delete(_ id: String, of project: ProjectID) async throws {
        try await configuration.changing(
            """
            DELETE FROM oauth_clients WHERE project = \(project.rawValue) AND client = \(id) RETURNING client
            """,
            recording: AuditEntry(
                .clientDeleted,
                in: Scope(project: project),
                resource: id,
                at: configuration.now()
            )
        )
    }

    private static func text(of client: OAuthClient) -> String { JSONObject(client.metadata.members).jsonText }
}
