public import Foundation

extension Auth {
    /// Sends an email whose link sets a new password.
    ///
    /// With email enumeration protection, also succeeds if no account has the email.
    /// - Parameters:
    ///   - email: of the account.
    ///   - continueURL: where the page behind the link leads, on one of the project's `authorizedDomains`.
    public func sendPasswordReset(withEmail email: String, continueURL: URL? = nil) async throws(AuthError) {
        let _: OOBResponse = try await api.call("v1/accounts:sendOobCode") {
            $0.requestType = "PASSWORD_RESET"
            $0.email = email
            $0.continueUrl = continueURL?.absoluteString
        }
    }

    /// Returns the email of a password reset's code, without using the code.
    public func verifyPasswordResetCode(_ code: String) async throws(AuthError) -> String? {
        try await api.call("v1/accounts:resetPassword", returning: OOBResponse.self) { $0.oobCode = code }.email
    }

    /// Sets a new password with the code of an email.
    ///
    /// Ends all sessions of the account.
    public func confirmPasswordReset(withCode code: String, newPassword: String) async throws(AuthError) {
        let _: OOBResponse = try await api.call("v1/accounts:resetPassword") {
            $0.oobCode = code
            $0.newPassword = newPassword
        }
    }

    /// Applies the code of an email that verifies, changes or restores an email.
    public func applyActionCode(_ code: String) async throws(AuthError) {
        let _: EmptyResponse = try await api.call("v1/accounts:update") { $0.oobCode = code }
    }

    /// Sends an email whose link signs in.
    /// - Parameters:
    ///   - email: need not have an account yet.
    ///   - continueURL: the app's URL that the link leads to, on one of the project's `authorizedDomains`.
    public func sendSignInLink(toEmail email: String, continueURL: URL) async throws(AuthError) {
        let _: OOBResponse = try await api.call("v1/accounts:sendOobCode") {
            $0.requestType = "EMAIL_SIGNIN"
            $0.email = email
            $0.continueUrl = continueURL.absoluteString
            $0.canHandleCodeInApp = true
        }
    }

    /// Signs in with the link of an email, on any device.
    ///
    /// Ask the user for the email if the app does not know it.
    public func signIn(withEmail email: String, link: String) async throws(AuthError) -> AuthDataResult {
        try await signIn(with: EmailAuthProvider.credential(withEmail: email, link: link))
    }

    /// Returns the sign-in methods of an email; none with email enumeration protection.
    public func fetchSignInMethods(forEmail email: String) async throws(AuthError) -> [String] {
        try await api.call("v1/accounts:createAuthUri", returning: AuthURIResponse.self) {
            $0.identifier = email
            $0.continueUri = "http://localhost"
        }.signinMethods ?? []
    }
}
