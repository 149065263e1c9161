import IdentityClient

/// GitHub's OAuth flow for calls to its API: the client secret stays at the service.
public struct GitHub: Sendable {
    private let auth: Auth

    public init(auth: Auth) { self.auth = auth }

    /// The user of the last run, or nil.
    public var user: User? { auth.currentUser }

    /// Signs in, and asks for access to public repositories.
    /// - Parameter browser: in an app, `WebAuthenticationSession(redirectURI: URL(string: "yyokii://GithubSearchApp")!)`.
    public func signIn(using browser: some WebAuthenticator) async throws(AuthError) -> AuthDataResult {
        var gitHub = OAuthProvider(providerID: GitHubAuthProvider.id)
        gitHub.scopes = ["public_repo"]
        return try await auth.signIn(with: gitHub, using: browser)
    }

    /// Returns the access token for GitHub's API: `Authorization: token TOKEN`.
    ///
    /// The service stores it, so the app need not.
    public func accessToken() async throws(AuthError) -> String {
        guard let user else { throw .notSignedIn }
        return try await user.providerToken(for: GitHubAuthProvider.id).accessToken
    }
}
