import Domain
import Projects

/// A provider ready for use: its definition, its discovery, and our client there.
struct ResolvedProvider: Sendable {
    let definition: ProviderDefinition
    /// Nil if the definition uses none, or if the fallback endpoints are used.
    let discovery: DiscoveryDocument?
    let client: ProviderConfiguration
    /// Whose keys they are.
    var kind = Kind.provider

    enum Kind: Sendable {
        case provider
        /// An application: its keys are few, and have a cache of their own.
        case application(isVouchedFor: Bool)
    }

    var issuer: String { definition.issuers.first ?? "" }

    /// The definition's own endpoint, otherwise discovery's, otherwise the fallback.
    func endpoint(_ path: KeyPath<ProviderDefinition.Endpoints, String?>) -> String? {
        definition.endpoints[keyPath: path] ?? discovery?.endpoints[keyPath: path]
            ?? (discovery == nil ? definition.fallbackEndpoints[keyPath: path] : nil)
    }

    func required(
        _ path: KeyPath<ProviderDefinition.Endpoints, String?>,
        _ name: String
    ) throws(FederationError) -> String {
        guard let url = endpoint(path) else {
            throw .misconfigured(
                InvalidDefinition(member: "definition.endpoints." + name, problem: "is missing in discovery")
            )
        }
        return url
    }

    var sendsChallenge: Bool {
        switch definition.pkce {
        case .none: false
        case .required: true
        case .optional: discovery.map { $0.challengeMethods.contains("S256") } ?? true
        }
    }

    var algorithms: Set<SignatureAlgorithm> {
        if let algorithms = definition.idToken.algorithms { return algorithms }
        return discovery?.algorithms ?? [.rs256]
    }

    func clientAuthentication(hasSecret: Bool) -> ProviderDefinition.ClientAuthentication {
        guard definition.clientAuthentication == .automatic else { return definition.clientAuthentication }
        guard hasSecret else { return .none }
        if let methods = discovery?.authenticationMethods {
            if methods.contains("client_secret_basic") { return .basic }
            if methods.contains("client_secret_post") { return .post }
        }
        return definition.protocolKind == .oidc ? .basic : .post
    }

    /// The definition's scopes and the requested ones, each once.
    func scopes(asked: [String]) -> [String] {
        let offline = definition.keepTokens ? definition.refresh.scopes : []
        let optional = (definition.scopes.whenSupported + offline).filter { discovery?.scopes?.contains($0) ?? true }
        var scopes: [String] = []
        for scope in definition.scopes.default + optional + asked where !scopes.contains(scope) { scopes.append(scope) }
        return scopes
    }
}
