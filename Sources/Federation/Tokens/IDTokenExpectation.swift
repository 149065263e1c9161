import Projects

/// The requirements for an ID token, all from stored configuration and the stored flow (invariant: nothing in a token
/// or a request selects them).
struct IDTokenExpectation: Sendable {
    enum Nonce: Sendable {
        /// The claim must be exactly this; nil: it must be absent, because none was sent.
        case sent(String?)
        /// The client's raw nonce, by the rules of the definition.
        case client(raw: String?, ProviderDefinition.IDTokenRules)
    }

    /// The first is the canonical one.
    var issuers: [String]
    /// Client IDs of which `aud` must contain one; messages quote the first.
    var audiences: [String]
    /// Allowed client IDs in `azp`.
    var authorizedParties: [String]
    var nonce: Nonce
    /// The value that `at_hash` must match.
    var accessToken: String?
    /// The value that `c_hash` must match.
    var code: String?
    /// The hash of what came with the token is required, because it came through the browser (OIDC Core §3.3.2.11).
    var requiresHashes = false
    /// Seconds since `iat`.
    var maximumAge: Int?
    /// Seconds since `auth_time`, which is required then (OIDC Core §3.1.3.7).
    var maximumAuthenticationAge: Int?
    /// Seconds since 1970; `auth_time`, if present, must not be earlier.
    var authenticatedSince: Int64?
    /// Allowed clock difference to the provider, in seconds.
    static let skew: Int64 = 60
}

extension IDTokenExpectation {
    /// The requirements for every ID token of a flow, from the browser or the token endpoint.
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
