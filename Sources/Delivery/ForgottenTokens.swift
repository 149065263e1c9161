package import Linking

/// Tokens of a provider that its configuration may keep no more are to be deleted: a message to ourselves.
package struct ForgottenTokens: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "provider.forgotten_tokens"

    package var tenant: String
    package var provider: ProviderID
    /// The account after which to go on; nil to begin.
    package var after: String?

    package init(tenant: String, provider: ProviderID) {
        self.tenant = tenant
        self.provider = provider
    }
}
