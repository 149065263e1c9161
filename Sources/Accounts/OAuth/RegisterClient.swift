package import OAuth
import Projects
package import Secrets
import Storage
package import StrictJSON

extension AccountsService { package var registerClient: RegisterClient { RegisterClient(parts: parts) } }

/// Clients that register themselves (RFC 7591), and manage that (RFC 7592): for clients that know no other way.
package struct RegisterClient: Sendable {
    let parts: Parts

    package struct Registered: Sendable {
        package var client: OAuthClient
        /// Nil for a public client.
        package var secret: Secret?
        /// Nil except at first.
        package var registrationToken: Secret?
    }

    /// - Throws: ``OAuthError``, ``Storage/RateLimitReached``.
    package func callAsFunction(_ metadata: JSONObject, _ caller: Caller) async throws -> Registered {
        try requireOffered(caller)
        let metadata = try ClientMetadata(metadata)
        let secret = metadata.authentication == .none ? nil : Secret(parts.random.handle())
        let token = Secret(parts.random.handle())
        let client = OAuthClient(
            id: OAuthClient.newID(parts.random),
            metadata: metadata,
            secretHash: secret.map { SecureHash.sha256($0.reveal()) },
            origin: .registration
        )
        try await parts.stores.oauthClients.register(
            client,
            registrationHash: SecureHash.sha256(token.reveal()),
            within: parts.clientLimits(caller),
            in: caller.project.id
        )
        return Registered(client: client, secret: secret, registrationToken: token)
    }

    /// - Throws: ``OAuthError``, with one text for every cause.
    package func find(_ id: String, token: Secret?, _ caller: Caller) async throws -> OAuthClient {
        try await requireOwner(of: id, token, caller)
        guard let client = try await parts.stores.oauthClients.client(id, of: caller.project.id) else {
            throw Self.refused
        }
        return client
    }

    /// Replaces what the client said of itself; its secret stays.
    ///
    /// - Throws: ``OAuthError``, ``Storage/RateLimitReached``: each change makes every node read the configuration.
    package func replace(
        _ id: String,
        _ metadata: JSONObject,
        token: Secret?,
        _ caller: Caller
    ) async throws -> OAuthClient {
        try await parts.stores.rateLimits.take(parts.clientLimits(caller))
        try await requireOwner(of: id, token, caller)
        let metadata = try ClientMetadata(metadata)
        return try await parts.stores.oauthClients.update(id, of: caller.project.id) { client in
            guard (metadata.authentication == .none) == (client.secretHash == nil) else {
                throw OAuthError(.invalidClientMetadata, "A client cannot become public or confidential")
            }
            client.metadata = metadata
        }
    }

    /// - Throws: as ``replace(_:_:token:_:)``.
    package func delete(_ id: String, token: Secret?, _ caller: Caller) async throws {
        try await parts.stores.rateLimits.take(parts.clientLimits(caller))
        try await requireOwner(of: id, token, caller)
        try await parts.stores.oauthClients.delete(id, of: caller.project.id)
    }

    private static let refused = OAuthError(
        .invalidToken,
        "The registration access token is missing, or of another client"
    )

    private func requireOwner(of id: String, _ token: Secret?, _ caller: Caller) async throws {
        try requireOffered(caller)
        guard let token else { throw Self.refused }
        let hash = SecureHash.sha256(token.reveal())
        guard try await parts.stores.oauthClients.isRegistered(id, by: hash, of: caller.project.id) else {
            throw Self.refused
        }
    }

    private func requireOffered(_ caller: Caller) throws(OAuthError) {
        guard caller.project.settings.oauth.allowsRegistration else {
            throw OAuthError(.accessDenied, "The project does not let clients register themselves")
        }
    }
}
