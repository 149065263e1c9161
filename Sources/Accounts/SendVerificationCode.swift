import Linking
import Projects
package import Secrets
import Storage

/// `sendVerificationCode`: an SMS whose code signs in by phone.
///
/// It looks at no account, so that the answer tells nothing of one.
package struct SendVerificationCode: Sendable {
    let parts: Parts

    /// - Parameter appHash: of an Android app that reads the SMS by itself.
    /// - Returns: the `sessionInfo`.
    package func callAsFunction(to phoneNumber: String?, appHash: String?, _ caller: Caller) async throws -> Secret {
        guard caller.project.settings.phone.isEnabled else { throw AccountsError.operationNotAllowed }
        guard let number = phoneNumber.flatMap({ PhoneNumber($0) }) else { throw AccountsError.invalidPhoneNumber }
        return try await parts.sendVerificationCode(
            to: number,
            purpose: .signIn,
            account: nil,
            appHash: appHash,
            caller
        )
    }
}
