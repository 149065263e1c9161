package import Domain

/// A message to ourselves: delete tokens of a provider that its configuration no longer stores.
package struct ForgottenTokens: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "provider.forgotten_tokens"

    package var tenant: String
    package var provider: ProviderID
    /// The account after which to continue; nil to start.
    package var after: String?

    package init(tenant: String, provider: ProviderID) {
        self.tenant = tenant
        self.provider = provider
    }
}
