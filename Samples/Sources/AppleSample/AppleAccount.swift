import IdentityClient

/// Sign in with Apple: natively or on the web, with the credential's state at each launch.
public struct AppleAccount: Sendable {
    public static let id = "apple.com"

    private let auth: Auth

    public init(auth: Auth) { self.auth = auth }

    public var user: User? { auth.currentUser }

    /// Signs in with the credential of Apple's sheet: in an app, `SignInWithApple().credential()`.
    ///
    /// It has the name at the first consent only. The service stores the name, and keeps it.
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        try await auth.signIn(with: credential)
    }

    /// Signs in at Apple's web page, on other systems.
    public func signIn(using browser: some WebAuthenticator) async throws(AuthError) -> AuthDataResult {
        try await auth.signIn(with: OAuthProvider(providerID: Self.id), using: browser)
    }

    /// Call it at each launch: signs out if the user has revoked the app's permission.
    ///
    /// The service knows the state from Apple's notifications.
    public func launch() async throws(AuthError) -> CredentialState.Authorization {
        guard let user else { return .notFound }
        do throws(AuthError) {
            let state = try await user.credentialState(for: Self.id).authorization
            if state != .authorized { try await auth.signOut() }
            return state
        } catch .sessionEnded {
            // A notification of Apple also ends the sessions.
            return .revoked
        }
    }

    /// Deletes the account, as the App Store requires: first the app's permission at Apple.
    /// - Parameter authorizationCode: a new one, of `SignInWithApple`; nil after a sign-in on the web, whose token the
    ///   service has.
    public func delete(authorizationCode: String? = nil) async throws(AuthError) {
        guard let user else { throw .notSignedIn }
        if let authorizationCode { try await user.revokeToken(authorizationCode: authorizationCode) }
        try await user.delete()
    }
}
