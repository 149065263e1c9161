import IdentityClient

/// Yahoo! JAPAN: the code flow, and the hybrid flows that its SDK had.
public struct YahooJapan: Sendable {
    public static let id = "oidc.yahoojp"

    /// The SDK's `YConnectResponseType`.
    public enum Flow: String, CaseIterable, Sendable {
        case code = "code"
        case codeAndIDToken = "code id_token"
        case codeAndToken = "code token"
        case codeAndBoth = "code id_token token"
    }

    /// The SDK's `OIDCPrompt`.
    public enum Prompt: String, Sendable {
        case login, consent, none
        case selectAccount = "select_account"
    }

    private let auth: Auth

    public init(auth: Auth) { self.auth = auth }

    /// Signs in.
    ///
    /// The service creates `state` and `nonce`, exchanges the code, and verifies the ID tokens.
    /// - Parameters:
    ///   - prompt: with `none`, fails if the user would have to sign in or consent.
    ///   - browser: in an app, `WebAuthenticationSession(redirectURI: URL(string: "yj-xxxxx:/")!)`.
    public func signIn(
        _ flow: Flow = .code,
        prompt: Prompt? = nil,
        using browser: some WebAuthenticator
    ) async throws(AuthError) -> AuthDataResult {
        var yahoo = OAuthProvider(providerID: Self.id)
        yahoo.responseType = flow.rawValue
        yahoo.scopes = ["address"]
        yahoo.customParameters = ["display": "touch", "max_age": "3600"]
        yahoo.customParameters["prompt"] = prompt?.rawValue
        yahoo.returnsRefreshToken = true
        return try await auth.signIn(with: yahoo, using: browser)
    }

    /// Returns an access token for Yahoo! JAPAN's APIs, which the service renews with the refresh token.
    ///
    /// The sign-in must be repeated if the error's code is `providerConsentRequired`.
    public func accessToken() async throws(AuthError) -> String {
        guard let user = auth.currentUser else { throw .notSignedIn }
        return try await user.providerToken(for: Self.id).accessToken
    }
}
