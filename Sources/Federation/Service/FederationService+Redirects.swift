package import Projects

extension FederationService {
    /// Whether the sign-in starts with a call to the provider: for OAuth 1.0a's request token, or for its discovery
    /// document, if there is none or it is too old.
    package func asksBeforeRedirect(_ configuration: ProviderConfiguration, _ options: AuthorizationOptions) -> Bool {
        guard let draft = try? AuthorizationDraft(options),
            let variables = try? draft.variables(of: definition(of: configuration)),
            let definition = try? definition(of: configuration, choosing: variables)
        else { return false }
        if definition.protocolKind == .oauth1 { return true }
        guard definition.discovery != .never, let issuer = definition.issuers.first else { return false }
        return !documents.isFresh(Self.discoveryURL(of: definition, issuer))
    }

    /// The redirect URIs in the provider's configuration, byte for byte; empty if it has none.
    package func redirectURIs(of configuration: ProviderConfiguration) -> [String] {
        (try? ProviderDefinition.make(for: configuration, allowsLoopback: true).redirectURIs) ?? []
    }
}
