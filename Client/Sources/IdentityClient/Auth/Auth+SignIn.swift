import Foundation

extension Auth {
    /// Creates an account with a password, and signs in.
    public func createUser(withEmail email: String, password: String) async throws(AuthError) -> AuthDataResult {
        try await signIn("v1/accounts:signUp", isNewUser: true) {
            $0.email = email
            $0.password = password
        }
    }

    public func signIn(withEmail email: String, password: String) async throws(AuthError) -> AuthDataResult {
        try await signIn(with: EmailAuthProvider.credential(withEmail: email, password: password))
    }

    /// Signs in without credentials; the present user if that one is anonymous already.
    ///
    /// Upgrade the account with `link(with:)` before the user depends on it.
    public func signInAnonymously() async throws(AuthError) -> AuthDataResult {
        if let user = currentUser, user.isAnonymous {
            return AuthDataResult(user: user, additionalUserInfo: AdditionalUserInfo(SignInResponse()))
        }
        return try await signIn("v1/accounts:signUp", isNewUser: true) { _ in }
    }

    /// Signs in with a token that a back end signed, or the code of the hosted sign-in page with its verifier.
    public func signIn(withCustomToken token: String) async throws(AuthError) -> AuthDataResult {
        try await signIn("v1/accounts:signInWithCustomToken") { $0.token = token }
    }

    /// Signs in with a credential.
    /// - Throws: ``AuthError/accountConflict(_:)`` if its email has an account that the credential may not open;
    ///   ``AuthError/secondFactorRequired(_:)``.
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        let sentAt = Moment.now
        let response = try await exchange(credential)
        return try await signedIn(response, sentAt: sentAt, credential: OAuthCredential(response))
    }

    /// Sends a credential, and returns the response unless it is a conflict.
    func exchange(
        _ credential: AuthCredential,
        linkingTo idToken: String? = nil,
        mayCreate: Bool = true
    ) async throws(AuthError) -> SignInResponse {
        let response: SignInResponse
        do throws(AuthError) {
            response = try await api.call(credential.operation(isLink: idToken != nil)) {
                credential.fill(&$0)
                $0.idToken = idToken
                $0.returnSecureToken = true
                if !mayCreate { $0.autoCreate = false }
            }
        } catch {
            // The provider's response says so: the user pressed a button there.
            throw error.code == .userCancelled ? .cancelled : error
        }
        if let conflict = AccountConflict(response) { throw .accountConflict(conflict) }
        return response
    }

    private func signIn(
        _ operation: String,
        isNewUser: Bool? = nil,
        _ fill: (inout WireRequest) -> Void
    ) async throws(AuthError) -> AuthDataResult {
        let sentAt = Moment.now
        var response = try await api.call(operation, returning: SignInResponse.self) {
            fill(&$0)
            $0.returnSecureToken = true
        }
        response.isNewUser = isNewUser ?? response.isNewUser
        return try await signedIn(response, sentAt: sentAt)
    }
}
