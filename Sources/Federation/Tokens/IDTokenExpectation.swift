import Projects

/// What an ID token must be to count, all of it from stored configuration and the stored flow (invariant: nothing in a
/// token or a request selects it).
struct IDTokenExpectation: Sendable {
    enum Nonce: Sendable {
        /// The claim must be exactly this; nil: there must be none, because none was sent.
        case sent(String?)
        /// The client's raw nonce; a token that carries a nonce needs one.
        case client(raw: String?, form: ProviderDefinition.IDTokenRules.NonceForm)
    }

    /// The first is the canonical one.
    var issuers: [String]
    /// Client ids of which `aud` must name one; the first is the one that messages quote.
    var audiences: [String]
    /// Client ids that `azp` may name.
    var authorizedParties: [String]
    var nonce: Nonce
    /// What `at_hash` must be made of.
    var accessToken: String?
    /// What `c_hash` must be made of.
    var code: String?
    /// The hash of what came beside the token must be there: it came through the browser (OIDC Core §3.3.2.11).
    var requiresHashes = false
    /// Seconds since `iat`.
    var maximumAge: Int?
    /// Seconds since `auth_time`, which must be there (OIDC Core §3.1.3.7).
    var maximumAuthenticationAge: Int?
    /// Seconds since 1970, before which `auth_time` must not be where it is there.
    var authenticatedSince: Int64?
    /// A client's token must carry a nonce.
    var requiresNonce = false

    /// Seconds by which the provider's clock may differ.
    static let skew: Int64 = 60
}

extension IDTokenExpectation {
    /// What every ID token of a flow must be, whichever way it comes.
    init(
        _ flow: AuthorizationFlow,
        _ definition: ProviderDefinition,
        _ configuration: ProviderConfiguration,
        accessToken: String?,
        code: String
    ) {
        self.init(
            issuers: definition.issuers,
            audiences: [flow.clientID],
            authorizedParties: [flow.clientID, configuration.clientID] + configuration.audiences,
            nonce: .sent(flow.nonce),
            accessToken: accessToken,
            code: code,
            maximumAge: definition.idToken.maximumAge,
            maximumAuthenticationAge: flow.maxAge,
            authenticatedSince: flow.loginAskedAt
        )
    }
}
