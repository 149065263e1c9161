package import Domain

/// Everything that the service knows about an identity provider, as data.
///
/// A built-in definition is a value in `Providers/`; for `oidc.*` and `oauth.*`, a template is overridden, member by
/// member, by the JSON of ``Projects/ProviderConfiguration/overrides``, which uses the names of these properties. Texts
/// in ``endpoints``, ``issuers``, ``discoveryURL`` and profile URLs may contain `{name}` of ``variables``, or
/// `{clientId}`.
package struct ProviderDefinition: Sendable, Hashable, Codable {
    package var id: ProviderID
    package var displayName: String
    package var protocolKind: ProtocolKind
    /// Override discovery.
    package var endpoints = Endpoints()
    /// Used if neither ``endpoints`` nor discovery has one; dropped if the configuration sets another issuer or host.
    package var fallbackEndpoints = Endpoints()
    /// Accepted in `iss`.
    ///
    /// The first is the canonical one, which is stored with the subject. For OAuth2 it is a name in this service, by
    /// default the authorization endpoint's origin.
    package var issuers: [String] = []
    package var discovery = Discovery.never
    /// Nil for `{issuer}/.well-known/openid-configuration`.
    package var discoveryURL: String?
    /// Hosts, in addition to the issuer's own and its subdomains, on which discovery may place endpoints.
    package var endpointHosts: [String] = []
    /// A JWK set (RFC 7517 §5) as JSON text, instead of the keys endpoint: for a provider that this service cannot
    /// reach, or to pin its keys.
    package var jwks: String?
    package var variables: [String: String] = [:]
    package var scopes = Scopes()
    /// The types that an app can request; the first is the default.
    package var responseTypes: [ResponseType] = [.code]
    package var responseMode = ResponseMode.automatic
    package var pkce = PKCE.optional
    package var sendNonce: Bool
    package var clientAuthentication = ClientAuthentication.automatic
    /// Sent with every authorization request, unless the app's own parameter of that name replaces one, or removes it
    /// with an empty value.
    package var extraAuthorizationParameters: [String: String] = [:]
    package var customParameters = CustomParameters.anyExceptReserved
    /// Custom parameters that fill a variable instead of going into the query, and the values that an app may set in
    /// addition to the variable's own.
    package var variableParameters: [String: [String]] = [:]
    package var redirect = Redirect.exact
    /// Registered with the provider; if not empty, only these may be used.
    package var redirectURIs: [String] = []
    package var token = TokenEndpoint()
    package var idToken: IDTokenRules
    package var refresh = RefreshRules()
    /// Stores the provider's tokens with the linked credential, to return current ones.
    package var keepTokens = false
    /// Calls made with the access token, in order.
    package var profile: [ProfileCall] = []
    package var claims = ClaimMap()
    package var rawUserInfo: RawUserInfo
    /// Nil for the table of ``EmailTrustRule/standard(for:strict:)``.
    package var emailTrust: EmailTrustRule?
    package var directSignIn = DirectSignIn()
    /// Nil if tokens are dropped without telling the provider.
    package var revocation: RevocationRules?
    /// The format of the provider's notifications; nil if it sends none, or none that are supported.
    package var notifications: Notifications?
    /// `federatedId` is this and the subject.
    package var federatedIDPrefix = ""
    /// Special cases that data cannot express.
    package var quirks: Set<Quirk> = []

    /// - Parameter change: sets what differs from the defaults.
    init(
        _ id: ProviderID,
        _ displayName: String,
        _ protocolKind: ProtocolKind,
        _ change: (inout ProviderDefinition) -> Void = { _ in }
    ) {
        self.id = id
        self.displayName = displayName
        self.protocolKind = protocolKind
        sendNonce = protocolKind == .oidc
        idToken = protocolKind == .oidc ? IDTokenRules() : IDTokenRules(algorithms: [])
        rawUserInfo = protocolKind == .oidc ? .claims : .profile
        change(&self)
    }

    package enum ProtocolKind: String, Sendable, Hashable, Codable, CaseIterable { case oidc, oauth2, oauth1 }

    package enum Discovery: String, Sendable, Hashable, Codable, CaseIterable {
        case never
        /// Loaded and cached; ``fallbackEndpoints`` are used if it cannot be loaded.
        case cached
        /// Sign-in fails without it.
        case required
    }

    package enum ResponseMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// Not named in the request.
        case automatic
        case query, fragment
        case formPost = "form_post"
    }

    package enum PKCE: String, Sendable, Hashable, Codable, CaseIterable {
        case none
        /// S256; if discovery is loaded, only if it lists S256.
        case optional
        /// S256 always.
        case required
    }

    package enum ClientAuthentication: String, Sendable, Hashable, Codable, CaseIterable {
        /// `none` without a secret; otherwise what discovery lists, preferring `basic` to `post`; otherwise `basic` for
        /// OpenID Connect and `post` for plain OAuth 2.0.
        case automatic
        case basic, post, none
        /// Apple's: `post` with a secret that is signed for each request with the private key in place of the secret.
        case appleSecret = "apple_secret"
        /// A signed assertion (RFC 7523) with the private key in place of the secret; the variable `keyId` is its ID.
        case privateKeyJWT = "private_key_jwt"

        /// Whether the client cannot authenticate if the configuration has no secret.
        var needsSecret: Bool { self != .none && self != .automatic }
    }

    package enum Redirect: String, Sendable, Hashable, Codable, CaseIterable {
        /// `redirect_uri` is sent, byte for byte, in both requests.
        case exact
        /// Omitted from both; the provider uses the registered one.
        case omit
    }

    package enum Notifications: String, Sendable, Hashable, Codable, CaseIterable {
        /// A signed JWT with one event (Apple's server-to-server notifications).
        case apple
        /// A signed JWT with events by URI (Google's Cross-Account Protection).
        case googleRISC = "google_risc"
        /// `signed_request` (Facebook's deauthorize and data-deletion callbacks).
        case facebook
        /// A webhook, signed with its own secret.
        case github
        /// A webhook, signed with the key of the variable `publicKey`.
        case discord
    }

    package enum RawUserInfo: String, Sendable, Hashable, Codable, CaseIterable {
        /// The ID token's claims.
        case claims
        /// The first profile call's response.
        case profile
        /// The profile, overridden by the claims.
        case merged
    }

    /// The remaining special cases; each has its code in one file of `Providers/`.
    package enum Quirk: String, Sendable, Hashable, Codable, CaseIterable {
        /// The name is sent with the tokens, unsigned and only once.
        case appleUser = "apple_user"
        /// The picture's URL is derived from a hash.
        case discordAvatar = "discord_avatar"
        /// The email is the primary, verified one of a list.
        case githubEmails = "github_emails"
        /// `{tid}` in the issuers is the directory in a token, and addresses are set by the directory's admin.
        case microsoftTenant = "microsoft_tenant"
        /// `rawUserInfo` has `id`, `verified_email` and `granted_scopes`.
        case googleLegacyProfileNames = "google_legacy_profile_names"
    }

    /// `federatedId` on the wire: `https://accounts.google.com/<sub>`, `oidc.acme/<sub>`, otherwise the bare subject.
    package func federatedID(for subject: String) -> String { federatedIDPrefix + subject }
}
