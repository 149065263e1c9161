package import StrictJSON

/// How a tenant behaves: its differences from other providers, as data and a few hooks.
///
/// Start from one of the given values and change members for a variant.
package struct ProviderPersonality: Sendable {
    package var name: String
    /// Path of each endpoint below the tenant's base URL, without a slash at the start; absent when it isn't offered.
    ///
    /// `*` stands for one segment: GitHub has client ids in paths.
    package var paths: [ProviderEndpoint: String]
    /// Speaks OAuth 1.0a: request tokens, signatures, forms.
    package var isOAuth1 = false
    /// Issues ID tokens, and requires `openid`.
    package var isOpenID = false
    /// An OpenID provider that refuses requests without the scope `openid`.
    package var wantsOpenIDScope = true
    /// An OpenID provider that requires a nonce.
    package var wantsNonce = true
    package var signing: TestSigningKey.Kind = .rs256
    package var pkce: ProofKey = .optional
    package var refreshTokens: RefreshTokens = .never
    /// Refresh tokens are single-use: each renewal returns a new one, and using an old one ends the grant.
    package var rotatesRefreshTokens = false
    /// `expires_in`, seconds; nil when access tokens don't expire.
    package var accessTokenLifetime: Int64? = 3600
    /// Seconds.
    package var codeLifetime: Int64 = 600
    package var clientAuthentication: TestClient.Authentication = .post
    /// Sends token responses as a form unless `Accept` asks for JSON.
    package var answersForms = false
    /// Reports errors of the token endpoint with status 200.
    package var reportsErrorsAsOK = false
    /// The separator between the scopes of an authorization request.
    package var askedScopeSeparator: Character = " "
    /// Nil for a response without the granted scopes.
    package var grantedScopeSeparator: String? = " "
    /// Without a scope in the request, grants the scopes granted before.
    package var remembersScopes = false
    /// Uses the registered redirect URI for a request without `redirect_uri`.
    package var allowsOmittedRedirect = false
    /// Refuses API calls without `User-Agent`.
    package var requiresUserAgent = false
    /// Accepts token requests by GET too.
    package var allowsTokenByGET = false
    /// Exchanges a valid access token for one that lives 60 days.
    package var lengthensTokens = false
    /// Requires Facebook's `appsecret_proof` on API calls.
    package var requiresAppSecretProof = false
    /// The profile contains only the members that the parameter `fields` asks for.
    package var answersAskedFields = false
    /// Appended to a callback's URL.
    package var callbackFragment = ""
    /// Authorization schemes that the profile endpoints accept, lower case.
    package var accessTokenSchemes: Set<String> = ["bearer"]
    /// Supported response types, each as a set of words (OAuth 2.0 Multiple Response Types §3); types other than `code`
    /// alone are returned in the fragment.
    package var responseTypes: Set<Set<String>> = [["code"]]
    /// Follows `prompt`, `max_age` and `display` (OIDC Core §3.1.2.1).
    package var followsPrompt = false
    /// A user who refuses returns only if the request had `bail=1`, and then with neither code nor error.
    package var bails = false
    /// Puts `auth_time` into every ID token, not only when `max_age` was sent.
    package var alwaysSendsAuthenticationTime = true
    /// Sends `iss` with the callback (RFC 9207) and says so in discovery.
    package var sendsIssuerInCallback = false
    /// `aud` is a list, and there is no `azp`.
    package var listsAudience = false
    /// Accepts Basic credentials that are not form-encoded.
    package var takesPlainBasic = false
    /// False: the app was not approved for user info.
    package var approvesUserInfo = true
    /// `iss` of a user's token, derived from the tenant's issuer.
    package var tokenIssuer: @Sendable (TestUser, String) -> String = { $1 }
    /// The suffix of the tenant's issuer in discovery, and in the `issuer` of keys, which then have no `alg`.
    package var documentIssuer: String?
    /// A refresh must repeat the scopes.
    package var refreshNeedsScope = false
    /// The error for a refresh token that is none, or no longer; nil for that of a code.
    package var refreshTokenError: String?
    /// The scopes that the app was given at the provider, which refuses others; nil for any.
    package var registeredScopes: Set<String>?
    /// Returns to a redirect URI without a path at `/`.
    package var addsRootSlash = false
    /// A refresh returns an ID token too.
    package var refreshesIDToken = true
    /// `error_code` in errors sent back to the app; nil for none.
    package var errorCode: Int64?
    /// Refuses a request for one of these without `response_mode=form_post`.
    package var formPostScopes: Set<String> = []
    /// Further parameters of the callback after a user's first consent, and after the first one following a revocation.
    package var firstCallbackFields: @Sendable (TestUser, Set<String>) -> [(String, String)] = { _, _ in [] }
    /// Further members of the token endpoint's response.
    package var tokenMembers: @Sendable (TestUser) -> JSONObject = { _ in [:] }
    /// Parameters that a token request needs besides those of RFC 6749.
    package var requiredTokenFields: [String: String] = [:]
    /// The members of a token endpoint error, by the error's name.
    package var errorMembers: @Sendable (String) -> JSONObject = {
        ["error": .string($0), "error_description": .string("refused: \($0)")]
    }
    package var errorName: @Sendable (TokenFailure) -> String = { $0.rawValue }
    /// Claims about the user for these scopes, without `sub`.
    package var claims: @Sendable (TestUser, Set<String>) -> JSONObject = { user, scopes in
        ProviderPersonality.standardClaims(user, scopes)
    }
    /// The profile endpoint's response.
    package var profile: @Sendable (TestUser, Set<String>) -> JSONObject = { user, scopes in
        ProviderPersonality.standardProfile(user, scopes)
    }
    /// The form of ``ProviderEndpoint/tokenCheck``.
    package var tokenCheck = TokenCheck.google
    /// The revocation endpoint's name in discovery.
    package var revocationMember = "revocation_endpoint"
    /// Further members of the discovery document.
    package var discovery: JSONObject = [:]

    /// - Parameter change: sets what differs from the defaults.
    init(_ name: String, _ paths: [ProviderEndpoint: String], _ change: (inout ProviderPersonality) -> Void) {
        self.name = name
        self.paths = paths
        change(&self)
    }

    package enum ProofKey: Sendable, Hashable {
        case optional
        case required
        /// Refuses `code_challenge` with `unauthorized_client`, and doesn't advertise it.
        case refused
    }

    package enum TokenCheck: Sendable, Hashable { case discord, facebook, github, google, line }

    package enum RefreshTokens: Sendable, Hashable {
        case never
        case always
        /// When the scope `offline_access` is requested.
        case withOfflineScope
        /// Google: with `access_type=offline`, at the first consent or with `prompt=consent`.
        case withOfflineAccess
    }

    /// The names of RFC 6749 §5.2, and one for GitHub's separate complaint about the redirect URI.
    package enum TokenFailure: String, Sendable, Hashable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case redirectMismatch = "redirect_uri_mismatch"
        case unsupportedGrantType = "unsupported_grant_type"
    }
}

extension ProviderPersonality {
    /// The URL of an endpoint; Microsoft's tenant, the first segment, is `common`.
    func url(_ endpoint: ProviderEndpoint, below base: String) -> String? {
        paths[endpoint].map { base + "/" + ($0.hasPrefix("*/") ? "common" + $0.dropFirst() : $0) }
    }

    /// The endpoint at a path below the tenant's base URL.
    func endpoint(at path: Substring) -> ProviderEndpoint? {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return paths.first { _, pattern in
            let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == segments.count && zip(parts, segments).allSatisfy { $0 == "*" || $0 == $1 }
        }?
        .key
    }

    /// Claims of the scopes `profile` and `email` (OIDC Core §5.4), then the user's further claims.
    package static func standardClaims(_ user: TestUser, _ scopes: Set<String>) -> JSONObject {
        var claims: JSONObject = [:]
        if scopes.contains("profile") {
            claims = user.members([
                "name": \.name, "given_name": \.givenName, "family_name": \.familyName, "picture": \.picture,
                "locale": \.locale,
            ])
        }
        if scopes.contains("email"), let email = user.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(user.emailVerified)
        }
        return claims.changed(set: user.claims)
    }

    /// `sub` and the standard claims (OIDC Core §5.3.2).
    static func standardProfile(_ user: TestUser, _ scopes: Set<String>) -> JSONObject {
        let subject: JSONObject = ["sub": .string(user.subject)]
        return subject.changed(set: standardClaims(user, scopes))
    }

    /// `id`, texts that the user has, and the user's further claims.
    static func plainProfile(
        _ user: TestUser,
        _ names: KeyValuePairs<String, KeyPath<TestUser, String?>>,
        _ others: JSONObject = [:]
    ) -> JSONObject {
        let id: JSONObject = ["id": .string(user.subject)]
        return id.changed(set: user.members(names)).changed(set: others).changed(set: user.claims)
    }
}
