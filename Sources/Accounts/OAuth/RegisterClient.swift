import Foundation
package import OAuth
import Projects
package import Secrets
import Storage
package import StrictJSON

extension AccountsService { package var registerClient: RegisterClient { RegisterClient(service: self) } }

/// Clients that register themselves (RFC 7591), and manage that (RFC 7592): for clients that know no other way.
package struct RegisterClient: Sendable {
    let service: AccountsService

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
        let metadata = try Self.checked(metadata)
        let secret = !metadata.authentication.needsSecret ? nil : Secret(service.random.handle())
        let token = Secret(service.random.handle())
        let client = OAuthClient(
            id: OAuthClient.newID(service.random),
            metadata: metadata,
            secretHash: secret.map { SecureHash.sha256($0.reveal()) },
            origin: .registration
        )
        try await service.stores.oauthClients.register(
            client,
            registrationHash: SecureHash.sha256(token.reveal()),
            until: service.now().addingTimeInterval(ClientDocument.keptSeconds),
            within: service.clientLimits(caller),
            in: caller.project.id
        )
        return Registered(client: client, secret: secret, registrationToken: token)
    }

    /// - Throws: ``OAuthError``, with one text for every cause.
    package func find(_ id: String, token: Secret?, _ caller: Caller) async throws -> OAuthClient {
        try await requireOwner(of: id, token, caller)
        guard let client = try await service.stores.oauthClients.client(id, of: caller.project.id) else {
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
        try await service.stores.rateLimits.take(service.clientLimits(caller))
        try await requireOwner(of: id, token, caller)
        // Both may only repeat what they are (RFC 7592 §2.2).
        guard metadata["client_id"].map({ $0.string == id }) ?? true else {
            throw OAuthError(.invalidClientMetadata, "client_id is another client's")
        }
        let secret = metadata["client_secret"]
        let metadata = try Self.checked(metadata)
        return try await service.stores.oauthClients.update(id, of: caller.project.id, byItself: true) { client in
            // An admin may have taken it over since its token was looked at.
            guard client.origin == .registration else { throw Self.refused }
            guard metadata.authentication.needsSecret == (client.secretHash != nil),
                (metadata.authentication == .none) == client.isPublic
            else {
                throw OAuthError(.invalidClientMetadata, "A client cannot become public or confidential")
            }
            guard secret.map({ Self.isSecret($0, of: client) }) ?? true else {
                throw OAuthError(.invalidClientMetadata, "client_secret is not the client's: it cannot be chosen")
            }
            client.metadata = metadata
        }
    }

    private static func isSecret(_ value: JSONValue, of client: OAuthClient) -> Bool {
        guard let text = value.string, let hash = client.secretHash else { return false }
        return ConstantTime.equal(hash, SecureHash.sha256(text))
    }

    /// - Throws: as ``replace(_:_:token:_:)``.
    package func delete(_ id: String, token: Secret?, _ caller: Caller) async throws {
        try await service.stores.rateLimits.take(service.clientLimits(caller))
        let hash = try await requireOwner(of: id, token, caller)
        try await service.stores.oauthClients.delete(id, registeredWith: hash, of: caller.project.id)
    }

    /// Anybody may register, so what is kept of each is little.
    private static func checked(_ members: JSONObject) throws(OAuthError) -> ClientMetadata {
        let metadata = try ClientMetadata(members)
        try metadata.checkSize()
        guard metadata.redirectURIs.count <= 10, metadata.logoutURIs.count <= 10 else {
            throw OAuthError(.invalidClientMetadata, "The metadata is limited to ten URIs of a kind")
        }
        return metadata
    }

    private static let refused = OAuthError(
        .invalidToken,
        "The registration access token is missing, or of another client"
    )

    /// - Returns: the hash of its token.
    @discardableResult
    private func requireOwner(of id: String, _ token: Secret?, _ caller: Caller) async throws -> [UInt8] {
        try requireOffered(caller)
        guard let token else { throw Self.refused }
        let hash = SecureHash.sha256(token.reveal())
        guard try await service.stores.oauthClients.isRegistered(id, by: hash, of: caller.project.id) else {
            throw Self.refused
        }
        return hash
    }

    private func requireOffered(_ caller: Caller) throws(OAuthError) {
        guard caller.project.settings.oauth.allowsRegistration else {
            throw OAuthError(.accessDenied, "The project does not let clients register themselves")
        }
    }
}
