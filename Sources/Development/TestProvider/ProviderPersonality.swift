/// How a tenant behaves: what a provider does differently from the others, as data and a few hooks.
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
    /// Issues ID tokens, and wants `openid`.
    package var isOpenID = false
    /// An OpenID provider that refuses requests without the scope `openid`.
    package var wantsOpenIDScope = true
    /// An OpenID provider that is to be sent a nonce.
    package var wantsNonce = true
    package var signing: TestSigningKey.Kind = .rs256
    package var pkce: ProofKey = .optional
    package var refreshTokens: RefreshTokens = .never
    /// A refresh token is good once: a new one comes with each renewal, and the use of an old one ends the grant.
    package var rotatesRefreshTokens = false
    /// `expires_in`, seconds; nil when access tokens don't end.
    package var accessTokenLifetime: Int64? = 3600
    /// Seconds.
    package var codeLifetime: Int64 = 600
    package var clientAuthentication: TestClient.Authentication = .post
    /// Answers the token request as a form unless `Accept` asks for JSON.
    package var answersForms = false
    /// Reports errors of the token endpoint with status 200.
    package var reportsErrorsAsOK = false
    /// Between the scopes of an authorization request.
    package var askedScopeSeparator: Character = " "
    /// Nil for an answer that does not say what was granted.
    package var grantedScopeSeparator: String? = " "
    /// Grants what was granted before when a request names no scope.
    package var remembersScopes = false
    /// Takes a request without `redirect_uri` to mean the registered one.
    package var allowsOmittedRedirect = false
    /// Refuses API calls without `User-Agent`.
    package var requiresUserAgent = false
    /// Takes a token request as a GET too.
    package var allowsTokenByGET = false
    /// Takes an access token that is still good for one that lives 60 days.
    package var lengthensTokens = false
    /// Wants API calls to carry Facebook's `appsecret_proof`.
    package var requiresAppSecretProof = false
    /// The profile has only what the parameter `fields` asks for.
    package var answersAskedFields = false
    /// Stands at the end of a callback's URL.
    package var callbackFragment = ""
    /// Schemes that the profile endpoints take, lower case.
    package var accessTokenSchemes: Set<String> = ["bearer"]
    /// What may be asked for, each as a set of words (OAuth 2.0 Multiple Response Types §3); more than a code comes back in
    /// the fragment.
    package var responseTypes: Set<Set<String>> = [["code"]]
    /// Follows `prompt`, `max_age` and `display` (OIDC Core §3.1.2.1).
    package var followsPrompt = false
    /// Who refuses comes back with `bail=1` alone, and then with neither code nor error.
    package var bails = false
    /// Puts `auth_time` into every ID token, not only when `max_age` was sent.
    package var alwaysSendsAuthenticationTime = true
    /// Sends `iss` with the callback (RFC 9207) and says so in discovery.
    package var sendsIssuerInCallback = false
    /// `aud` is a list, and there is no `azp`.
    package var listsAudience = false
    /// Takes Basic credentials as they are, not form-encoded first.
    package var takesPlainBasic = false
    /// False: the app was not approved for user info.
    package var approvesUserInfo = true
    /// `iss` of a person's token, made of the tenant's issuer.
    package var tokenIssuer: @Sendable (TestUser, String) -> String = { $1 }
    /// What follows the tenant's issuer in discovery, and in the `issuer` of keys, which then have no `alg`.
    package var documentIssuer: String?
    /// A refresh must repeat the scopes.
    package var refreshNeedsScope = false
    /// A refresh answers with an ID token too.
    package var refreshesIDToken = true
    /// `error_code` in errors that go back to the app; nil for none.
    package var errorCode: Int64?
    /// Refuses a request for one of these without `response_mode=form_post`.
    package var formPostScopes: Set<String> = []
    /// Further parameters of the callback after a person's first consent, and after one that follows a revocation.
    package var firstCallbackFields: @Sendable (TestUser, Set<String>) -> [(String, String)] = { _, _ in [] }
    /// Further members of the token endpoint's answer.
    package var tokenMembers: @Sendable (TestUser) -> [TestJSON.Member] = { _ in [] }
    /// Parameters that a token request must have besides those of RFC 6749.
    package var requiredTokenFields: [String: String] = [:]
    /// The members of an error of the token endpoint, by its name.
    package var errorMembers: @Sendable (String) -> [TestJSON.Member] = {
        [.init("error", .string($0)), .init("error_description", .string("refused: \($0)"))]
    }
    package var errorName: @Sendable (TokenFailure) -> String = { $0.rawValue }
    /// Claims about the person for these scopes, without `sub`.
    package var claims: @Sendable (TestUser, Set<String>) -> [TestJSON.Member] = { user, scopes in
        ProviderPersonality.standardClaims(user, scopes)
    }
    /// What the profile endpoint answers.
    package var profile: @Sendable (TestUser, Set<String>) -> TestJSON = { user, scopes in
        .object([.init("sub", .string(user.subject))] + ProviderPersonality.standardClaims(user, scopes))
    }
    /// How ``ProviderEndpoint/tokenCheck`` speaks.
    package var tokenCheck = TokenCheck.google
    /// What discovery calls the revocation endpoint.
    package var revocationMember = "revocation_endpoint"
    /// Further members of the discovery document.
    package var discovery: [TestJSON.Member] = []

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
        /// When the scope `offline_access` was asked for.
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

    /// Claims of the scopes `profile` and `email` (OIDC Core §5.4), then the person's further claims.
    package static func standardClaims(_ user: TestUser, _ scopes: Set<String>) -> [TestJSON.Member] {
        var claims = TestJSON.object([])
        if scopes.contains("profile") {
            claims.set("name", ifPresent: user.name)
            claims.set("given_name", ifPresent: user.givenName)
            claims.set("family_name", ifPresent: user.familyName)
            claims.set("picture", ifPresent: user.picture)
            claims.set("locale", ifPresent: user.locale)
        }
        if scopes.contains("email"), let email = user.email {
            claims.set("email", .string(email))
            claims.set("email_verified", .bool(user.emailVerified))
        }
        claims.change(set: user.claims, remove: [])
        return claims.members
    }
}
