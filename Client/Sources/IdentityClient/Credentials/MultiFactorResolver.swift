import Foundation

/// A sign-in that waits for a second factor, for half an hour.
public struct MultiFactorResolver: Sendable {
    /// A second factor of the account.
    public struct Hint: Sendable, Hashable, Identifiable {
        public enum Kind: Sendable, Hashable {
            case totp
            /// The number is masked, such as `+*******0101`.
            case phone(String)
            /// A kind that this package cannot resolve, such as a passkey.
            case other
        }

        public let id: String
        public let displayName: String?
        public let kind: Kind
    }

    public let hints: [Hint]
    /// For `v2/accounts/mfaSignIn:…`, for factors that this package cannot resolve.
    public let pendingCredential: String
    let auth: Auth

    init(auth: Auth, pendingCredential: String, _ factors: [SignInResponse.SecondFactor]) {
        self.auth = auth
        self.pendingCredential = pendingCredential
        self.hints = factors.map { factor in
            let kind: Hint.Kind = factor.totpInfo != nil ? .totp : factor.phoneInfo.map { .phone($0) } ?? .other
            return Hint(id: factor.mfaEnrollmentId, displayName: factor.displayName, kind: kind)
        }
    }

    /// Completes the sign-in with the six digits of an authenticator app.
    /// - Parameters:
    ///   - code: works once.
    ///   - hint: which one; nil for the first.
    public func resolveSignIn(withTOTP code: String, hint: Hint? = nil) async throws(AuthError) -> AuthDataResult {
        guard let hint = hint ?? hints.first(where: { $0.kind == .totp }) else {
            throw .invalidArgument("the account has no authenticator app")
        }
        let sentAt = Moment.now
        let response = try await auth.api.call("v2/accounts/mfaSignIn:finalize", returning: SignInResponse.self) {
            $0.mfaPendingCredential = pendingCredential
            $0.mfaEnrollmentId = hint.id
            $0.totpVerificationInfo = WireRequest.TOTP(verificationCode: code)
        }
        return try await auth.signedIn(response, sentAt: sentAt)
    }
}
