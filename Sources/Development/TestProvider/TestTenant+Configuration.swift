package import Linking
package import Projects
import Secrets

extension TestTenant {
    /// What an admin would enter to sign in with this tenant.
    ///
    /// For a built-in provider the endpoints and the issuer of its definition are moved here; `oidc.*` is found by
    /// discovery; `oauth.*` gets the endpoints. All of it needs loopback allowed for outgoing calls.
    ///
    /// - Parameters:
    ///   - client: the id of a client that was added; the first of its secrets is taken.
    ///   - overrides: further members of `definition{}`, which win over those made here.
    package func configuration(
        as provider: ProviderID,
        client: String = "client",
        displayName: String? = nil,
        enabled: Bool = true,
        audiences: [String] = [],
        overrides: [String: TestJSON] = [:]
    ) -> ProviderConfiguration {
        var definition = standardOverrides(for: provider)
        var secret = withState { $0.clients[client]?.secrets.first }
        if case .appleSecret(let key) = withState({ $0.clients[client]?.authentication }) {
            secret = key.pem
            definition.set("variables", ["base": .string(base), "teamId": .string(key.team), "keyId": .string(key.id)])
        }
        definition.change(set: overrides, remove: [])
        return ProviderConfiguration(
            provider: provider,
            enabled: enabled,
            displayName: displayName,
            clientID: client,
            clientSecret: secret.map { Secret($0) },
            audiences: audiences,
            issuer: provider.isOIDC ? issuer : nil,
            overrides: definition.members.isEmpty ? nil : definition.text
        )
    }

    private func standardOverrides(for provider: ProviderID) -> TestJSON {
        var definition: TestJSON = [:]
        if provider == "microsoft.com" {
            definition.set("variables", ["base": .string(base), "graph": .string(base)])
        } else if personality.isOpenID {
            if !provider.isOIDC { definition.set("issuers", .array(issuerSpellings.map { .string($0) })) }
            if issuer != base, let url = url(.discovery) {
                definition.set("discoveryURL", .string(url))
                definition.set("endpointHosts", ["127.0.0.1"])
            }
            if let url = url(.tokenCheck) { definition.set("endpoints", ["tokenCheck": .string(url)]) }
        } else if provider == .github {
            definition.set("variables", ["base": .string(base), "api": .string(base + "/api")])
            definition.set("issuers", [.string(issuer)])
        } else if ["facebook.com", "twitter.com", "oauth.discord", "oauth.feedly", "oauth.x"].contains(
            provider.rawValue
        ) {
            let names = ["base", "api", "graph", "limited"]
            definition.set("variables", .object(names.map { .init($0, .string(base)) }))
        } else {
            var endpoints: TestJSON = [:]
            endpoints.set("authorization", ifPresent: url(.authorization))
            endpoints.set("token", ifPresent: url(.token))
            endpoints.set("userInfo", ifPresent: url(.userinfo))
            endpoints.set("revocation", ifPresent: url(.revocation))
            definition.set("endpoints", endpoints)
        }
        return definition
    }

    /// The issuer with its scheme, and without it, as Google also writes its own.
    private var issuerSpellings: [String] {
        guard let scheme = SplitURL(issuer)?.scheme else { return [issuer] }
        return [issuer, String(issuer.dropFirst(scheme.count + 3))]
    }
}
