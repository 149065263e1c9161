extension ProviderDefinition {
    /// Absolute URLs; nil where the provider has none or discovery tells.
    package struct Endpoints: Sendable, Hashable, Codable {
        package var authorization: String?
        package var token: String?
        /// OAuth 1.0a alone.
        package var requestToken: String?
        package var userInfo: String?
        package var keys: String?
        package var revocation: String?
        /// Where a provider says for whom an access token was made; see ``DirectSignIn/accessToken``.
        package var tokenCheck: String?

        package init(
            authorization: String? = nil,
            token: String? = nil,
            userInfo: String? = nil,
            keys: String? = nil,
            revocation: String? = nil,
            tokenCheck: String? = nil,
            requestToken: String? = nil
        ) {
            self.authorization = authorization
            self.token = token
            self.userInfo = userInfo
            self.keys = keys
            self.revocation = revocation
            self.tokenCheck = tokenCheck
            self.requestToken = requestToken
        }
    }

    package struct Scopes: Sendable, Hashable, Codable {
        /// Asked for every time.
        package var `default`: [String] = []
        package var separator = " "
        /// Between the scopes of the token endpoint's answer; white space separates always.
        package var answerSeparator = " "
        /// Asked for only where discovery's `scopes_supported` lists them.
        package var whenSupported: [String] = []

        package init() {}
        package init(_ scopes: [String]) { self.default = scopes }
    }

    /// Which custom parameters an app may set; the reserved names are refused always.
    package enum CustomParameters: Sendable, Hashable, Codable {
        case anyExceptReserved
        case only(Set<String>)
    }

    /// How the token endpoint speaks.
    package struct TokenEndpoint: Sendable, Hashable, Codable {
        package enum Body: String, Sendable, Hashable, Codable, CaseIterable {
            case json, form
            /// JSON when the body begins with `{`, else a form.
            case auto
        }
        package var accept = "application/json"
        package var body = Body.auto
        /// Members that make an answer an error even with status 200.
        package var errorMembers = ["error"]
        /// A member that must be true, Slack's `ok`; nil for none.
        package var okMember: String?
        /// Sent with every token request.
        package var extraParameters: [String: String] = [:]
        /// Client id and secret are form-encoded before they become Basic credentials (RFC 6749 §2.3.1).
        package var encodesBasic = true
        /// How an access token that was issued for a code is checked besides; nil: where it came from is proof enough.
        package var check: AccessTokenCheck?

        package init() {}
    }

    /// How an ID token is judged.
    package struct IDTokenRules: Sendable, Hashable, Codable {
        package enum NonceForm: String, Sendable, Hashable, Codable, CaseIterable { case sha256, exact, either }

        /// How the keys endpoint publishes keys.
        package enum KeyFormat: String, Sendable, Hashable, Codable, CaseIterable {
            /// RFC 7517 §5.
            case jwks
            /// A JSON object of key ids and public keys in PEM.
            case pemMap = "pem_map"
            /// The same, where a certificate may take a key's place.
            case certificateMap = "certificate_map"
        }

        /// Empty for none: the provider issues no ID tokens.
        ///
        /// Nil for those that discovery lists, RS256 if it lists none.
        package var algorithms: Set<SignatureAlgorithm>?
        package var keyFormat = KeyFormat.jwks
        /// How the claim and the raw nonce of a client-supplied token compare.
        package var clientNonce = NonceForm.sha256
        /// Seconds.
        ///
        /// An older `iat` is stale. Nil for no limit but `exp`.
        package var maximumAge: Int?
        /// `"true"`, `"1"` and `1` count as true in flags.
        package var lenientBooleans = false
        /// A client-supplied token without a nonce is refused.
        package var requiresNonce = false

        package init() {}
        package init(algorithms: Set<SignatureAlgorithm>) { self.algorithms = algorithms }
    }

    /// How access tokens are renewed.
    package struct RefreshRules: Sendable, Hashable, Codable {
        package var supported = true
        /// An answer without a refresh token leaves the old one good.
        package var keepOldIfMissing = true
        /// The request repeats the scopes.
        package var resendScope = false
        /// Asked for when tokens are kept, only where discovery's `scopes_supported` lists them.
        package var scopes: [String] = []
        /// Sent with the authorization request when tokens are kept.
        package var parameters: [String: String] = [:]
        /// What stands in for refresh tokens, which the provider has not; nil for nothing.
        package var exchange: TokenExchange?

        package enum TokenExchange: String, Sendable, Hashable, Codable, CaseIterable {
            /// Facebook's: an access token that is still good for one that lives longer.
            case facebook = "fb_exchange_token"
        }

        package init() {}
    }

    /// A call to the provider's API with the access token.
    package struct ProfileCall: Sendable, Hashable, Codable {
        /// Nil for the user info endpoint of ``Endpoints`` or discovery.
        package var url: String?
        /// Where the answer stands for claim paths: nil for the top, a name for a member of it.
        package var name: String?
        /// The word before the token in `Authorization`.
        package var scheme = "Bearer"
        package var headers: [String: String] = [:]
        /// What shows besides the token that it is we who call; nil for nothing.
        package var proof: Proof?
        /// A failure other than another person's subject is overlooked.
        package var optional = false

        package enum Proof: String, Sendable, Hashable, Codable, CaseIterable {
            /// Facebook's HMAC of the token under the client secret.
            case appSecret = "appsecret_proof"
            /// OAuth 1.0a: the token is in the signed header.
            case oauth1 = "oauth1_signature"
        }

        package init(url: String? = nil, name: String? = nil, scheme: String = "Bearer", optional: Bool = false) {
            self.url = url
            self.name = name
            self.scheme = scheme
            self.optional = optional
        }
    }

    /// Where each part of an identity stands: JSON paths such as `data.id`, the first that holds something wins.
    package struct ClaimMap: Sendable, Hashable, Codable {
        package var subject: [String] = ["sub"]
        package var email: [String] = ["email"]
        package var emailVerified: [String] = ["email_verified"]
        /// Something there means: the provider is the authority for the address (Google's `hd`).
        package var emailAuthority: [String] = []
        /// True there means: the address is a relay's, made for this app alone (Apple's Hide My Email).
        package var emailIsRelay: [String] = []
        package var displayName: [String] = ["name"]
        package var firstName: [String] = ["given_name"]
        package var lastName: [String] = ["family_name"]
        package var nickName: [String] = ["nickname"]
        package var screenName: [String] = ["preferred_username"]
        package var photoURL: [String] = ["picture"]
        package var language: [String] = ["locale"]
        package var timeZone: [String] = ["zoneinfo"]
        package var dateOfBirth: [String] = ["birthdate"]

        package init() {}
    }

    /// How a grant is ended at the provider.
    package struct RevocationRules: Sendable, Hashable, Codable {
        package enum Style: String, Sendable, Hashable, Codable, CaseIterable {
            /// RFC 7009 at ``Endpoints/revocation``.
            case standard
            /// GitHub's `DELETE /applications/{client_id}/grant` at the variable `api`.
            case githubGrant = "github_grant"
            /// Facebook's `DELETE /me/permissions`.
            case facebookPermissions = "facebook_permissions"
            /// LINE's `POST /user/v1/deauthorize` at the variable `api`, with a channel access token.
            case lineDeauthorize = "line_deauthorize"
        }

        package var style = Style.standard
        /// The provider demands it when a person unlinks or deletes the account: the token for it is kept even where
        /// provider tokens are not.
        package var duty = false

        package init(_ style: Style = .standard, duty: Bool = false) {
            self.style = style
            self.duty = duty
        }
    }

    /// What an app may hand in by itself.
    package struct DirectSignIn: Sendable, Hashable, Codable {
        package var idToken = false
        /// How an access token alone is shown to be made for this client (T-C3); nil: it is refused.
        package var accessToken: AccessTokenCheck?

        package init(idToken: Bool = false, accessToken: AccessTokenCheck? = nil) {
            self.idToken = idToken
            self.accessToken = accessToken
        }
    }

    /// The ways in which providers say for whom an access token was made; each has its code in one file of `Providers/`.
    package enum AccessTokenCheck: String, Sendable, Hashable, Codable, CaseIterable {
        case discordAuthorization = "discord_authorization"
        case facebookDebugToken = "facebook_debug_token"
        case githubToken = "github_token"
        case googleTokenInfo = "google_tokeninfo"
        case lineVerify = "line_verify"
        /// OAuth 1.0a: nobody is asked, because every profile call is signed with the client's secret.
        case signedCalls = "signed_calls"
    }
}
