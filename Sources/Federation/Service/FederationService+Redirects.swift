package import Projects

extension FederationService {
    /// The redirect URIs that the provider's configuration registers, byte for byte; empty when it names none.
    package func redirectURIs(of configuration: ProviderConfiguration) -> [String] {
        (try? ProviderDefinition.make(for: configuration, allowsLoopback: true).redirectURIs) ?? []
    }
}
