public import Foundation

extension User {
    /// Sets the password, which adds the method `password` to an account with an email.
    ///
    /// Requires a recent sign-in.
    ///
    /// Ends the user's other sessions.
    public func updatePassword(to password: String) async throws(AuthError) {
        let sentAt = Moment.now
        let response = try await call("v1/accounts:update", returning: SignInResponse.self) {
            $0.password = password
            $0.returnSecureToken = true
        }
        try await auth.replaceTokens(of: self, with: response, sentAt: sentAt)
    }

    /// Changes the display name and the picture; nil leaves a value as it is, an empty name and `.some(nil)` remove it.
    public func updateProfile(displayName: String?? = nil, photoURL: URL?? = nil) async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:update") {
            $0.displayName = displayName ?? nil
            $0.photoUrl = (photoURL ?? nil)?.absoluteString
            let removed = [
                displayName == .some(nil) ? "DISPLAY_NAME" : nil, photoURL == .some(nil) ? "PHOTO_URL" : nil,
            ].compactMap(\.self)
            $0.deleteAttribute = removed.isEmpty ? nil : removed
        }
        try await reload()
    }

    /// Sends an email whose link verifies the user's email.
    public func sendEmailVerification(continueURL: URL? = nil) async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:sendOobCode") {
            $0.requestType = "VERIFY_EMAIL"
            $0.continueUrl = continueURL?.absoluteString
        }
    }

    /// Sends an email to a new address; its link makes it the user's email.
    public func sendEmailVerification(
        beforeUpdatingEmail newEmail: String,
        continueURL: URL? = nil
    ) async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:sendOobCode") {
            $0.requestType = "VERIFY_AND_CHANGE_EMAIL"
            $0.newEmail = newEmail
            $0.continueUrl = continueURL?.absoluteString
        }
    }

    /// Deletes the account, and signs out.
    ///
    /// Requires a recent sign-in.
    public func delete() async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:delete") { _ in }
        try await auth.keeper.end()
    }
}
