import IdentityClient

/// Firebase's guide for Yahoo: sign in, link, reauthenticate, and resolve a conflict.
public struct FirebaseWithYahoo: Sendable {
    private let auth: Auth

    public init(auth: Auth) { self.auth = auth }

    /// The provider, with the guide's parameters and scopes.
    public var provider: OAuthProvider {
        var provider = OAuthProvider(providerID: "yahoo.com")
        provider.customParameters = ["prompt": "login", "language": "fr"]
        // Access to Yahoo Mail and the user's contacts, as configured at Yahoo.
        provider.scopes = ["mail-r", "sdct-w"]
        return provider
    }

    /// Signs in; asks for the password of an account that already has the email, and links Yahoo to it.
    public func signIn(
        using browser: some WebAuthenticator,
        password: @Sendable (_ email: String) async -> String
    ) async throws(AuthError) -> AuthDataResult {
        do throws(AuthError) {
            return try await auth.signIn(with: provider, using: browser)
        } catch .accountConflict(let conflict) where conflict.reason == .accountExistsWithDifferentCredential {
            guard let email = conflict.email,
                try await auth.fetchSignInMethods(forEmail: email).contains(EmailAuthProvider.id)
            else { throw .accountConflict(conflict) }
            let existing = try await auth.signIn(withEmail: email, password: password(email))
            return try await conflict.resume(after: existing)
        }
    }

    /// Links Yahoo to the signed-in user.
    public func link(using browser: some WebAuthenticator) async throws(AuthError) -> AuthDataResult {
        guard let user = auth.currentUser else { throw .notSignedIn }
        return try await user.link(with: provider, using: browser)
    }

    /// Proves the account again, and then deletes it.
    public func delete(using browser: some WebAuthenticator) async throws(AuthError) {
        guard let user = auth.currentUser else { throw .notSignedIn }
        try await user.reauthenticate(with: provider, using: browser)
        try await user.delete()
    }
}
