package import OAuth
package import Projects
package import Secrets
import Storage
package import StrictJSON

/// The applications that sign in with a project's accounts.
package struct ManageOAuthClients: Sendable {
    let store: OAuthClientStore
    let random: RandomSource

    package struct Created: Sendable {
        package var client: OAuthClient
        /// Shown once; nil for a public client.
        package var secret: Secret?
    }

    /// - Parameters:
    ///   - metadata: the members of RFC 7591; others are ignored.
    ///   - isTrusted: whether it is the project's own application, for which no user is asked to consent.
    /// - Throws: ``AdministrationError/invalid(_:)``.
    package func create(_ metadata: JSONObject, isTrusted: Bool, in project: ProjectID) async throws -> Created {
        let metadata = try Self.checked(metadata)
        let secret = !metadata.authentication.needsSecret ? nil : Secret(random.handle())
        let client = OAuthClient(
            id: OAuthClient.newID(random),
            metadata: metadata,
            secretHash: secret.map { SecureHash.sha256($0.reveal()) },
            isTrusted: isTrusted
        )
        try await store.create(client, in: project)
        return Created(client: client, secret: secret)
    }

    /// By ID.
    ///
    /// - Parameter after: the last ID of the page before; nil for the first page.
    package func list(
        of project: ProjectID,
        after: String? = nil,
        limit: Int = 1000
    ) async throws -> [OAuthClient] {
        try await store.list(of: project, after: after, limit: limit).map(\.client)
    }

    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func find(_ id: String, of project: ProjectID) async throws -> OAuthClient {
        guard let client = try await store.find(id, of: project)?.client else { throw ConfigurationError.notFound }
        return client
    }

    /// What people call a client; nil for an unknown one.
    package func name(of id: String, in project: ProjectID) async throws -> String? {
        try await store.find(id, of: project)?.client.displayName
    }

    /// Changes the given members; null removes one.
    ///
    /// From then on the client is the admin's: neither its document nor its own registration changes it any more.
    ///
    /// - Parameter isTrusted: nil leaves it.
    /// - Throws: ``AdministrationError/invalid(_:)``; ``Storage/ConfigurationError/notFound``.
    package func change(
        _ id: String,
        _ members: JSONObject,
        isTrusted: Bool?,
        of project: ProjectID
    ) async throws -> OAuthClient {
        try await store.update(id, of: project) { client in
            let wasPublic = client.isPublic
            var metadata = JSONObject(client.metadata.members)
            for member in members.members { metadata[member.name] = member.value }
            client.metadata = try Self.checked(metadata)
            guard client.metadata.authentication.needsSecret == (client.secretHash != nil),
                wasPublic == client.isPublic
            else {
                throw AdministrationError.invalid("A client cannot become public or confidential: create another one.")
            }
            client.isTrusted = isTrusted ?? (client.isVouchedFor && client.isTrusted)
            // What only an admin's client may do was not given to this one by name.
            if !client.isVouchedFor, members["grant_types"] == nil { client.metadata.grantTypes.remove(.tokenExchange) }
            client.origin = .admin
        }
    }

    /// Deletes a client; its users' grants end with it.
    ///
    /// One with a metadata document stays blocked until it is changed.
    ///
    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func delete(_ id: String, of project: ProjectID) async throws { try await store.delete(id, of: project) }

    private static func checked(_ metadata: JSONObject) throws -> ClientMetadata {
        do throws(OAuthError) {
            let metadata = try ClientMetadata(metadata)
            try metadata.checkSize()
            return metadata
        } catch {
            throw AdministrationError.invalid(error.description)
        }
    }
}
