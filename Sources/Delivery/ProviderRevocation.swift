package import Domain

/// A grant to revoke at its provider, because the user unlinked it or deleted the account.
package struct ProviderRevocation: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "provider.revocation"

    package var tenant: String
    package var provider: ProviderID
    package var token: String
    package var isRefreshToken: Bool
    /// The client that the token was issued to; nil for the configured one.
    package var clientID: String?

    package init(tenant: String, provider: ProviderID, token: String, isRefreshToken: Bool, clientID: String?) {
        self.tenant = tenant
        self.provider = provider
        self.token = token
        self.isRefreshToken = isRefreshToken
        self.clientID = clientID
    }
}
