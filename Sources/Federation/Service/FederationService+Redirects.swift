package import Projects

extension FederationService {
    /// Whether each sign-in starts with a call to the provider: OAuth 1.0a's request token.
    package func asksBeforeRedirect(_ configuration: ProviderConfiguration) -> Bool {
        (try? definition(of: configuration).protocolKind) == .oauth1
    }

    /// The redirect URIs in the provider's configuration, byte for byte; empty if it has none.
    package func redirectURIs(of configuration: ProviderConfiguration) -> [String] {
        (try? ProviderDefinition.make(for: configuration, allowsLoopback: true).redirectURIs) ?? []
    }
}
