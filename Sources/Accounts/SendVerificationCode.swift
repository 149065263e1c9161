import Domain
import Projects
package import Secrets
import Storage

extension AccountsService {
    package var sendVerificationCode: SendVerificationCode { SendVerificationCode(service: self) }
}

/// `sendVerificationCode`: sends an SMS with a sign-in code.
///
/// It reads no account, so the response reveals nothing about one.
package struct SendVerificationCode: Sendable {
    let service: AccountsService

    /// - Parameter appHash: of an Android app that reads the SMS itself.
    /// - Returns: the `sessionInfo`.
    package func callAsFunction(to phoneNumber: String?, appHash: String?, _ caller: Caller) async throws -> Secret {
        guard caller.project.settings.phone.isEnabled else { throw AccountsError.operationNotAllowed }
        guard let number = phoneNumber.flatMap({ PhoneNumber($0) }) else { throw AccountsError.invalidPhoneNumber }
        return try await service.sendVerificationCode(
            to: number,
            purpose: .signIn,
            account: nil,
            appHash: appHash,
            caller
        )
    }
}
