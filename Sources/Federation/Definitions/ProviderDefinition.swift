package import Linking

/// Everything that the service knows about one identity provider, as data.
///
/// A built-in definition is a value in `Providers/`; for `oidc.*` and `oauth.*` a template is overridden, member by
/// member, by the JSON of ``Projects/ProviderConfiguration/overrides``, which uses the names of these properties. Texts
/// in ``endpoints``, ``issuers``, ``discoveryURL`` and profile URLs may hold `{name}` of ``variables``, or `{clientId}`.
package struct ProviderDefinition: Sendable, Hashable, Codable {
    package var id: ProviderID
    package var displayName: String
    package var protocolKind: ProtocolKind
    /// Used in place of what discovery says.
    package var endpoints: Endpoints
    /// Used where neither ``endpoints`` nor discovery has one; dropped once the configuration moves the provider.
    package var fallbackEndpoints: Endpoints
    /// Accepted in `iss`.
    ///
    /// The first is the canonical one, which is stored beside the subject. For OAuth2 a name of the service, by default
    /// the authorization endpoint's origin.
    package var issuers: [String]
    package var discovery: Discovery
    /// Nil for `{issuer}/.well-known/openid-configuration`.
    package var discoveryURL: String?
    /// Hosts besides the issuer's own, and those below it, on which discovery may place endpoints.
    package var endpointHosts: [String]
    /// A JWK set (RFC 7517 §5) as JSON text, in place of the keys endpoint: for a provider that this service cannot reach,
    /// or whose keys are to be pinned.
    package var jwks: String?
    package var variables: [String: String]
    package var scopes: Scopes
    /// Those that an app may ask for; the first where it asks for none.
    package var responseTypes: [ResponseType]
    package var responseMode: ResponseMode
    package var pkce: PKCE
    package var sendNonce: Bool
    package var clientAuthentication: ClientAuthentication
    /// Sent with every authorization request, unless the app's own parameter of that name replaces one, or takes it away
    /// by being empty.
    package var extraAuthorizationParameters: [String: String]
    package var customParameters: CustomParameters
    /// Custom parameters that fill a variable instead of going into the query, and the values that an app may give beside
    /// the variable's own.
    package var variableParameters: [String: [String]]
    package var redirect: Redirect
    /// Registered at the provider; when not empty, only these may be used.
    package var redirectURIs: [String]
    package var token: TokenEndpoint
    package var idToken: IDTokenRules
    package var refresh: RefreshRules
    /// Keeps the provider's tokens with the linked credential, to hand them out fresh.
    package var keepTokens: Bool
    /// Calls made with the access token, in order.
    package var profile: [ProfileCall]
    package var claims: ClaimMap
    package var rawUserInfo: RawUserInfo
    /// Nil for the table of ``EmailTrustRule/standard(for:strict:)``.
    package var emailTrust: EmailTrustRule?
    package var directSignIn: DirectSignIn
    /// Nil when tokens are given up without telling the provider.
    package var revocation: RevocationRules?
    /// How the provider speaks of its people by itself; nil for one that does not, or that is not understood here.
    package var notifications: Notifications?
    /// `federatedId` is this and the subject.
    package var federatedIDPrefix: String
    /// What data cannot say.
    package var quirks: Set<Quirk>

    package enum ProtocolKind: String, Sendable, Hashable, Codable, CaseIterable { case oidc, oauth2, oauth1 }

    package enum Discovery: String, Sendable, Hashable, Codable, CaseIterable {
        case never
        /// Read and cached; ``fallbackEndpoints`` step in when it cannot be read.
        case cached
        /// Without it nothing works.
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
        /// S256; where discovery is read, only when it lists it.
        case optional
        /// S256 always.
        case required
    }

    package enum ClientAuthentication: String, Sendable, Hashable, Codable, CaseIterable {
        /// `none` without a secret; else what discovery lists, `basic` before `post`; else `basic` for OpenID Connect
        /// and `post` for plain OAuth 2.0.
        case automatic
        case basic, post, none
        /// Apple's: `post` with a secret that is signed for each request with the private key in the secret's place.
        case appleSecret = "apple_secret"
        /// A signed assertion (RFC 7523) by the private key in the secret's place; its id is the variable `keyId`.
        case privateKeyJWT = "private_key_jwt"

        /// Whether there is nothing to prove the client with when the configuration has no secret.
        var needsSecret: Bool { self != .none && self != .automatic }
    }

    package enum Redirect: String, Sendable, Hashable, Codable, CaseIterable {
        /// `redirect_uri` is sent, byte for byte, in both requests.
        case exact
        /// It is left out of both; the provider uses the registered one.
        case omit
    }

    package enum Notifications: String, Sendable, Hashable, Codable, CaseIterable {
        /// A signed JWT with one event (Apple's server-to-server notifications).
        case apple
        /// A signed JWT with events by their URIs (Google's Cross-Account Protection).
        case googleRISC = "google_risc"
        /// `signed_request` (Facebook's deauthorize and data-deletion callbacks).
        case facebook
        /// A webhook, signed with its own secret.
        case github
        /// A webhook, signed with the key of the variable `publicKey`.
        case discord
    }

    package enum RawUserInfo: String, Sendable, Hashable, Codable, CaseIterable {
        /// The ID token's.
        case claims
        /// The first profile call's answer.
        case profile
        /// The profile under the claims.
        case merged
    }

    /// The special cases that remain; each has its code in one file of `Providers/`.
    package enum Quirk: String, Sendable, Hashable, Codable, CaseIterable {
        /// The name comes beside the tokens, unsigned and once.
        case appleUser = "apple_user"
        /// The picture's address is made of a hash.
        case discordAvatar = "discord_avatar"
        /// The email is the primary, verified one of a list.
        case githubEmails = "github_emails"
        /// `{tid}` in the issuers is the directory that a token names, and addresses are an admin's word.
        case microsoftTenant = "microsoft_tenant"
        /// `rawUserInfo` has `id`, `verified_email` and `granted_scopes`.
        case googleLegacyProfileNames = "google_legacy_profile_names"
    }

    /// `federatedId` on the wire: `https://accounts.google.com/<sub>`, `oidc.acme/<sub>`, otherwise the bare subject.
    package func federatedID(for subject: String) -> String { federatedIDPrefix + subject }
}
