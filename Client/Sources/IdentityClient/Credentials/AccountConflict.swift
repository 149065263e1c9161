import Foundation

/// A provider's identity that could not sign in or be linked, because an account has it or its email.
///
/// ```swift
/// do {
///     result = try await auth.signIn(with: gitHub, using: browser)
/// } catch .accountConflict(let conflict) where conflict.reason == .accountExistsWithDifferentCredential {
///     // Ask for the password of conflict.email, or offer conflict.providers.
///     result = try await conflict.resume(after: auth.signIn(withEmail: email, password: password))
/// }
/// ```
public struct AccountConflict: Sendable {
    public enum Reason: Sendable, Hashable {
        /// An account has the email, and the provider does not vouch for it. Sign in to that account, then resume.
        case accountExistsWithDifferentCredential
        /// Another account has the identity. Offer to sign in to it with ``AccountConflict/credential``.
        case credentialAlreadyInUse
        /// Another account has the email of the identity to link.
        case emailAlreadyInUse
        /// The user has linked an identity of this provider. Offer to unlink that one first.
        case providerAlreadyLinked
    }

    public let reason: Reason
    public let email: String?
    /// The provider of the identity, such as `github.com`.
    public let providerID: String
    /// The sign-in methods of the account that has the email; empty if the service does not tell.
    public let providers: [String]
    /// The identity's credential, which the service keeps for one hour and for one success.
    public let credential: AuthCredential

    /// Links the identity to the user who has just signed in.
    public func resume(after signIn: AuthDataResult) async throws(AuthError) -> AuthDataResult {
        try await signIn.user.link(with: credential)
    }

    init?(_ response: SignInResponse) {
        switch response.errorMessage {
        case "FEDERATED_USER_ID_ALREADY_LINKED": self.reason = .credentialAlreadyInUse
        case "EMAIL_EXISTS": self.reason = .emailAlreadyInUse
        case "PROVIDER_ALREADY_LINKED": self.reason = .providerAlreadyLinked
        default:
            guard response.needConfirmation == true else { return nil }
            self.reason = .accountExistsWithDifferentCredential
        }
        guard let token = response.pendingToken, let providerID = response.providerId else { return nil }
        self.email = response.email
        self.providerID = providerID
        self.providers = response.verifiedProvider ?? []
        self.credential = AuthCredential(providerID: providerID, proof: .pending(token: token))
    }
}
