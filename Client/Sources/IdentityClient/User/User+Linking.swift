import Foundation

extension User {
    /// Links a sign-in method to the account.
    /// - Throws: ``AuthError/accountConflict(_:)`` if another account has the identity or its email.
    @discardableResult
    public func link(with credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        let sentAt = Moment.now
        let response = try await auth.exchange(credential, linkingTo: idToken())
        return try await auth.signedIn(response, sentAt: sentAt, credential: OAuthCredential(response))
    }

    /// Proves the account again, before an operation that requires a recent sign-in.
    ///
    /// Creates and links nothing.
    /// - Throws: ``AuthError/userMismatch`` if the credential opens another account, which stays signed out, or no
    ///   account.
    @discardableResult
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        let sentAt = Moment.now
        guard auth.keeper.session?.profile.uid == uid else { throw .notSignedIn }
        let response: SignInResponse
        do throws(AuthError) { response = try await auth.exchange(credential, mayCreate: false) } catch {
            // The identity has no account, so it is not this user's.
            throw error.code == .emailNotFound ? .userMismatch : error
        }
        if let idToken = response.idToken, IDTokenResult(idToken)?.uid != uid {
            let _: EmptyResponse? = try? await auth.api.call("v1/accounts:signOut") { $0.idToken = idToken }
            throw .userMismatch
        }
        return try await auth.signedIn(response, sentAt: sentAt, credential: OAuthCredential(response))
    }

    /// Removes a sign-in method, such as `github.com` or `password`; the email stays.
    ///
    /// If the service stored the provider's token, it also revokes the grant there.
    public func unlink(fromProvider providerID: String) async throws(AuthError) {
        let sentAt = Moment.now
        let response = try await call("v1/accounts:update", returning: SignInResponse.self) {
            $0.deleteProvider = [providerID]
            $0.returnSecureToken = true
        }
        try await auth.replaceTokens(of: self, with: response, sentAt: sentAt)
    }
}
