package import Domain
import Projects
package import Storage

extension AccountsService { package var showAction: ShowAction { ShowAction(service: self) } }

/// What an email's link is about to do, for the page that asks for confirmation; the code is not used (threats.md,
/// T-E5).
///
/// A caller with the code has read the account's email and could apply the code. So the page may show the account and
/// its sign-in methods, which tells the email's owner that someone else created an account with it.
package struct ShowAction: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var code: OOBCode
        /// The account's sign-in methods, its own first.
        package var methods: [Method]
        /// The second factor or passkey that a code removes.
        package var factor: AddedFactor?
    }

    package struct Method: Sendable {
        package var provider: ProviderID
        /// The project's display name of the provider.
        package var displayName: String?
    }

    /// - Parameter type: the required type of the code; sign-in codes have no page (``FollowSignInLink``).
    package func callAsFunction(_ text: String?, as type: OOBCodeType, _ caller: Caller) async throws -> Result {
        guard type != .passwordReset || caller.project.settings.passwordSignIn else {
            throw AccountsError.passwordSignInDisabled
        }
        let code = try await service.findCode(text, caller).code
        guard code.type == type, type != .emailSignIn else { throw AccountsError.invalidOOBCode }
        guard let account = try await service.accounts.find(code.account, session: nil, in: caller.scope)?.account
        else {
            throw AccountsError.invalidOOBCode
        }
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        let factor = account.addedFactor(of: code)
        let stands =
            switch type {
            case .verifyEmail, .verifyAndChangeEmail, .passwordReset: account.email?.canonical == code.email.canonical
            case .revertSecondFactor: factor != nil
            case .recoverEmail, .emailSignIn: true
            }
        guard stands else { throw AccountsError.invalidOOBCode }
        let ways = account.waysIn.union(account.customAuth ? [.custom] : []).sorted {
            ($0.isFederated ? 1 : 0, $0.rawValue) < ($1.isFederated ? 1 : 0, $1.rawValue)
        }
        let methods = ways.map { Method(provider: $0, displayName: service.provider($0, caller)?.displayName) }
        return Result(code: code, methods: methods, factor: factor)
    }
}
