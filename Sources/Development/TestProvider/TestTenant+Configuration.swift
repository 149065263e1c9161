package import Domain
package import Projects
import Secrets
package import StrictJSON
import Text

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
        overrides: JSONObject = [:]
    ) -> ProviderConfiguration {
        var definition = standardOverrides(for: provider)
        var secret = withState { $0.clients[client]?.secrets.first }
        if case .appleSecret(let key) = withState({ $0.clients[client]?.authentication }) {
            secret = key.pem
            definition["variables"] = ["base": .string(base), "teamId": .string(key.team), "keyId": .string(key.id)]
        }
        definition.change(set: overrides)
        return ProviderConfiguration(
            provider: provider,
            enabled: enabled,
            displayName: displayName,
            clientID: client,
            clientSecret: secret.map { Secret($0) },
            audiences: audiences,
            issuer: provider.isOIDC ? issuer : nil,
            overrides: definition.members.isEmpty ? nil : definition.jsonText
        )
    }

    private func standardOverrides(for provider: ProviderID) -> JSONObject {
        var definition: JSONObject = [:]
        if provider == "microsoft.com" {
            definition["variables"] = ["base": .string(base), "graph": .string(base)]
        } else if personality.isOpenID {
            if !provider.isOIDC { definition["issuers"] = .array(issuerSpellings.map { .string($0) }) }
            if issuer != base, let url = url(.discovery) {
                definition["discoveryURL"] = .string(url)
                definition["endpointHosts"] = ["127.0.0.1"]
            }
            if let url = url(.tokenCheck) { definition["endpoints"] = ["tokenCheck": .string(url)] }
        } else if provider == .github {
            definition["variables"] = ["base": .string(base), "api": .string(base + "/api")]
            definition["issuers"] = [.string(issuer)]
        } else if ["facebook.com", "twitter.com", "oauth.discord", "oauth.feedly", "oauth.x"].contains(
            provider.rawValue
        ) {
            let names = ["base", "api", "graph", "limited"]
            definition["variables"] = .object(JSONObject(names.map { ($0, JSONValue.string(base)) }))
        } else {
            let names: [(String, ProviderEndpoint)] = [
                ("authorization", .authorization), ("token", .token), ("userInfo", .userinfo),
                ("revocation", .revocation),
            ]
            let endpoints = names.compactMap { name, endpoint in url(endpoint).map { (name, JSONValue.string($0)) } }
            definition["endpoints"] = .object(JSONObject(endpoints))
        }
        return definition
    }

    /// The issuer with its scheme, and without it, as Google also writes its own.
    private var issuerSpellings: [String] {
        guard let scheme = URLParts(issuer)?.scheme else { return [issuer] }
        return [issuer, String(issuer.dropFirst(scheme.count + 3))]
    }
}
