package import Domain

extension ProviderDefinition {
    /// Absolute URLs; nil if the provider has none or discovery contains it.
    package struct Endpoints: Sendable, Hashable, Codable {
        package var authorization: String?
        package var token: String?
        /// OAuth 1.0a only.
        package var requestToken: String?
        package var userInfo: String?
        package var keys: String?
        package var revocation: String?
        /// Where a provider states for which client an access token was issued; see ``DirectSignIn/accessToken``.
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
        /// Always requested.
        package var `default`: [String] = []
        package var separator = " "
        /// The separator of scopes in the token endpoint's response; white space always separates.
        package var answerSeparator = " "
        /// Requested only if discovery's `scopes_supported` lists them.
        package var whenSupported: [String] = []

        package init() {}
        package init(_ scopes: [String]) { self.default = scopes }
    }

    /// The custom parameters that an app can set; reserved names are always refused.
    package enum CustomParameters: Sendable, Hashable, Codable {
        case anyExceptReserved
        case only(Set<String>)
    }

    /// The format of the token endpoint's responses.
    package struct TokenEndpoint: Sendable, Hashable, Codable {
        package enum Body: String, Sendable, Hashable, Codable, CaseIterable {
            case json, form
            /// JSON if the body starts with `{`, otherwise a form.
            case auto
        }
        package var accept = "application/json"
        package var body = Body.auto
        /// Members that make a response an error even with status 200.
        package var errorMembers = ["error"]
        /// A member that must be true, such as Slack's `ok`; nil for none.
        package var okMember: String?
        /// Sent with every token request.
        package var extraParameters: [String: String] = [:]
        /// Client ID and secret are form-encoded before they become Basic credentials (RFC 6749 §2.3.1).
        package var encodesBasic = true
        /// An additional check of access tokens issued for a code; nil if their source is sufficient proof.
        package var check: AccessTokenCheck?

        package init() {}
    }

    /// The rules for ID tokens.
    package struct IDTokenRules: Sendable, Hashable, Codable {
        package enum NonceForm: String, Sendable, Hashable, Codable, CaseIterable { case sha256, exact, either }

        /// Whether an app must send the raw nonce of its token's claim.
        package enum RawNonce: String, Sendable, Hashable, Codable, CaseIterable {
            case required
            /// It is compared if it was sent: the provider's SDK adds a nonce that the app cannot read.
            case ifSent
        }

        /// The format of the keys endpoint.
        package enum KeyFormat: String, Sendable, Hashable, Codable, CaseIterable {
            /// RFC 7517 §5.
            case jwks
            /// A JSON object of key IDs and public keys in PEM.
            case pemMap = "pem_map"
            /// The same, but may contain certificates instead of keys.
            case certificateMap = "certificate_map"
        }

        /// Empty if the provider issues no ID tokens.
        ///
        /// Nil for those that discovery lists, RS256 if it lists none.
        package var algorithms: Set<SignatureAlgorithm>?
        package var keyFormat = KeyFormat.jwks
        /// How the claim is compared with the raw nonce for tokens from clients.
        package var clientNonce = NonceForm.sha256
        package var rawNonce = RawNonce.required
        /// Seconds.
        ///
        /// Tokens with an older `iat` are stale. Nil for no limit except `exp`.
        package var maximumAge: Int?
        /// `"true"`, `"1"` and `1` count as true in flags.
        package var lenientBooleans = false
        /// Tokens from clients without a nonce are refused.
        package var requiresNonce = false

        package init() {}
        package init(algorithms: Set<SignatureAlgorithm>) { self.algorithms = algorithms }
    }

    /// How access tokens are renewed.
    package struct RefreshRules: Sendable, Hashable, Codable {
        package var supported = true
        /// A response without a refresh token leaves the old one valid.
        package var keepOldIfMissing = true
        /// The request repeats the scopes.
        package var resendScope = false
        /// Requested if tokens are stored, and only if discovery's `scopes_supported` lists them.
        package var scopes: [String] = []
        /// Sent with the authorization request if tokens are stored.
        package var parameters: [String: String] = [:]
        /// The substitute for refresh tokens, for a provider without them; nil for none.
        package var exchange: TokenExchange?

        package enum TokenExchange: String, Sendable, Hashable, Codable, CaseIterable {
            /// Facebook's: exchanges a valid access token for one with a longer lifetime.
            case facebook = "fb_exchange_token"
        }

        package init() {}
    }

    /// A call to the provider's API with the access token.
    package struct ProfileCall: Sendable, Hashable, Codable {
        /// Nil for the user info endpoint from ``Endpoints`` or discovery.
        package var url: String?
        /// Where claim paths find the response: nil for the top level, or the name of a member.
        package var name: String?
        /// The word before the token in `Authorization`.
        package var scheme = "Bearer"
        package var headers: [String: String] = [:]
        /// An additional proof that the request comes from us; nil for none.
        package var proof: Proof?
        /// Errors are ignored, except another user's subject.
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

    /// The claims of an identity: JSON paths such as `data.id`; the first one with a value is used.
    @dynamicMemberLookup
    package struct ClaimMap: Sendable, Hashable, Codable {
        package var subject: [String] = ["sub"]
        package var email: [String] = ["email"]
        package var emailVerified: [String] = ["email_verified"]
        /// Any value means that the provider is the authority for the address (Google's `hd`).
        package var emailAuthority: [String] = []
        /// True means that the address is a relay for this app alone (Apple's Hide My Email).
        package var emailIsRelay: [String] = []
        /// By the names of the fields of a profile.
        private var profile = standard

        private static let standard = Dictionary(uniqueKeysWithValues: Profile.fields.map { ($0.name, [$0.claim]) })

        package init() {}

        package subscript(dynamicMember path: WritableKeyPath<Profile, String?>) -> [String] {
            get { self[field: Self.name(of: path)] }
            set { self[field: Self.name(of: path)] = newValue }
        }

        private static func name(of path: WritableKeyPath<Profile, String?>) -> String {
            var probe = Profile()
            probe[keyPath: path] = ""
            return Profile.fields.first { probe[$0] != nil }?.name ?? ""
        }

        /// - Parameter name: of a field of a profile.
        subscript(field name: String) -> [String] {
            get { profile[name] ?? [] }
            set { profile[name] = newValue }
        }
    }

    /// How a grant is revoked at the provider.
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
        /// The provider requires revocation when a user unlinks or deletes the account: the token for it is stored even
        /// if provider tokens are not.
        package var duty = false

        package init(_ style: Style = .standard, duty: Bool = false) {
            self.style = style
            self.duty = duty
        }
    }

    /// The tokens that an app may send itself.
    package struct DirectSignIn: Sendable, Hashable, Codable {
        package var idToken = false
        /// How an access token alone is proved to be issued for this client (T-C3); if nil, it is refused.
        package var accessToken: AccessTokenCheck?

        package init(idToken: Bool = false, accessToken: AccessTokenCheck? = nil) {
            self.idToken = idToken
            self.accessToken = accessToken
        }
    }

    /// How providers state for which client an access token was issued; each has its code in one file of `Providers/`.
    package enum AccessTokenCheck: String, Sendable, Hashable, Codable, CaseIterable {
        case discordAuthorization = "discord_authorization"
        case facebookDebugToken = "facebook_debug_token"
        case githubToken = "github_token"
        case googleTokenInfo = "google_tokeninfo"
        case lineVerify = "line_verify"
        /// OAuth 1.0a: no call is needed, because every profile call is signed with the client's secret.
        case signedCalls = "signed_calls"
    }
}
