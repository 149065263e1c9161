package import OAuth
package import Secrets
import Storage

extension AccountsService { package var authenticateClient: AuthenticateClient { AuthenticateClient(parts: parts) } }

/// Authenticates an application at the token endpoint and its siblings (OAuth 2.1 §2.4).
package struct AuthenticateClient: Sendable {
    let parts: Parts

    /// What a request says of its client.
    package struct Credentials: Sendable {
        package var id: String?
        /// Nil for a public client.
        package var secret: Secret?

        package init(id: String?, secret: Secret?) { (self.id, self.secret) = (id, secret) }
    }

    /// - Throws: ``OAuthError``, with one text for every cause.
    package func callAsFunction(_ credentials: Credentials, _ caller: Caller) async throws -> OAuthClient {
        var client: OAuthClient?
        do { client = try await parts.client(credentials.id, caller) } catch is OAuthError {}
        // Hashed in any case, so that the time does not tell which clients exist.
        let presented = credentials.secret.map { SecureHash.sha256($0.reveal()) }
        switch (client?.secretHash, presented) {
        case (let stored?, let presented?) where ConstantTime.equal(stored, presented): break
        case (nil, nil) where client != nil: break
        default: throw OAuthError(.invalidClient, "The client is unknown, or its authentication failed")
        }
        guard let client else { throw OAuthError(.invalidClient, "The client is unknown") }
        return client
    }
}
