import StrictJSON
import Text

/// A provider's metadata (OpenID Connect Discovery §3), after our checks.
struct DiscoveryDocument: Sendable, Hashable {
    var endpoints: ProviderDefinition.Endpoints
    /// Nil if the provider does not list them.
    var scopes: [String]?
    var challengeMethods: [String]
    var authenticationMethods: [String]?
    var algorithms: Set<SignatureAlgorithm>?
    /// RFC 9207 §3.
    var sendsIssuerParameter: Bool

    /// What is read of the document.
    static let members: Set<String> = [
        "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "revocation_endpoint",
        "token_revocation_endpoint", "scopes_supported", "code_challenge_methods_supported",
        "token_endpoint_auth_methods_supported", "id_token_signing_alg_values_supported",
        "authorization_response_iss_parameter_supported",
    ]

    static let otherIssuer = InvalidDefinition(
        member: "issuer",
        problem: "does not match the provider's discovery"
    )

    /// - Throws: ``InvalidDefinition`` if the issuer differs, or an endpoint is not allowed.
    init(
        _ document: JSONObject,
        definition: ProviderDefinition,
        issuer: String,
        allowsLoopback: Bool
    ) throws(InvalidDefinition) {
        guard let named = document["issuer"]?.string, named.utf8.elementsEqual(issuer.utf8) else {
            throw Self.otherIssuer
        }
        func endpoint(_ name: String, _ member: String, replaced: Bool) throws(InvalidDefinition) -> String? {
            guard !replaced, let url = document[name]?.string, !url.isEmpty else { return nil }
            guard ProviderURL.isAcceptable(url, allowsLoopback: allowsLoopback) else {
                throw InvalidDefinition(
                    member: "definition.endpoints." + member,
                    problem: "must be set: discovery contains no https URL"
                )
            }
            guard ProviderURL.isOwned(url, by: issuer, alsoBy: definition.endpointHosts) else {
                let host = SafeText.short(URLParts(url)?.host ?? "")
                throw InvalidDefinition(
                    member: "definition.endpointHosts",
                    problem: "must list \(host), the host of \(member) in discovery"
                )
            }
            return url
        }
        let own = definition.endpoints
        endpoints = ProviderDefinition.Endpoints(
            authorization: try endpoint(
                "authorization_endpoint",
                "authorization",
                replaced: own.authorization != nil
            ),
            token: try endpoint("token_endpoint", "token", replaced: own.token != nil),
            // Sign-in works without these endpoints; an endpoint on another host is ignored, so it never receives the
            // access token.
            userInfo: try? endpoint("userinfo_endpoint", "userInfo", replaced: own.userInfo != nil),
            keys: try endpoint("jwks_uri", "keys", replaced: own.keys != nil),
            // The second name is Yahoo's.
            revocation: (try? endpoint("revocation_endpoint", "revocation", replaced: own.revocation != nil))
                ?? (try? endpoint("token_revocation_endpoint", "revocation", replaced: own.revocation != nil))
        )
        func list(_ name: String) -> [String]? { document[name]?.array?.compactMap(\.string) }
        scopes = list("scopes_supported")
        challengeMethods = list("code_challenge_methods_supported") ?? []
        authenticationMethods = list("token_endpoint_auth_methods_supported")
        algorithms = list("id_token_signing_alg_values_supported").map {
            Set($0.compactMap(SignatureAlgorithm.init(name:)))
        }
        sendsIssuerParameter = document["authorization_response_iss_parameter_supported"] == .bool(true)
    }
}
