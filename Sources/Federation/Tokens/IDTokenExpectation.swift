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
    var accessToken: String?
    var code: String?
    /// Seconds since `iat`.
    var maximumAge: Int?
    /// Seconds since `auth_time`.
    var maximumAuthenticationAge: Int?

    /// Seconds by which the provider's clock may differ.
    static let skew: Int64 = 60
}
