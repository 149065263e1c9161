package import Domain

/// A blocking function's changes to an account that it allows to sign in, written together with the sign-in.
package struct Amendment: Sendable, Hashable {
    /// The version of the account that the function saw; the changes apply to no other version.
    package var version: Int64
    package var displayName: String??
    package var photoURL: String??
    package var emailVerified: Bool?
    package var customAttributes: String??

    package init(version: Int64) { self.version = version }
}

extension AccountChanges {
    /// - Parameter account: before the changes. If the function only says what its email is already, no codes end with that.
    package mutating func amend(_ amendment: Amendment?, _ account: Account) {
        guard let amendment else { return }
        displayName = amendment.displayName ?? displayName
        photoURL = amendment.photoURL ?? photoURL
        if let verified = amendment.emailVerified, emailVerified != nil || verified != account.emailVerified {
            emailVerified = verified
        }
        customAttributes = amendment.customAttributes ?? customAttributes
    }
}
