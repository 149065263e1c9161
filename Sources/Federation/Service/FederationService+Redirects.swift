package import Projects

extension FederationService {
    /// Whether the provider itself is called each time that a sign-in begins: OAuth 1.0a's request token.
    package func asksBeforeRedirect(_ configuration: ProviderConfiguration) -> Bool {
        (try? definition(of: configuration).protocolKind) == .oauth1
    }

    /// The redirect URIs that the provider's configuration registers, byte for byte; empty when it names none.
    package func redirectURIs(of configuration: ProviderConfiguration) -> [String] {
        (try? ProviderDefinition.make(for: configuration, allowsLoopback: true).redirectURIs) ?? []
    }
}
