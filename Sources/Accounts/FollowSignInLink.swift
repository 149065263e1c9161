import Projects
package import Secrets
import Storage

extension AccountsService { package var followSignInLink: FollowSignInLink { FollowSignInLink(service: self) } }

/// Continues from a sign-in email's link to the app, which uses the code itself.
///
/// The code is not used here.
package struct FollowSignInLink: Sendable {
    let service: AccountsService

    /// - Returns: the app's URL with the code, on one of the project's authorized domains.
    package func callAsFunction(_ code: Secret?, continueURL: String?, _ caller: Caller) async throws -> String {
        guard caller.project.settings.emailLinkSignIn else { throw AccountsError.operationNotAllowed }
        guard let url = try service.continueURL(continueURL, caller) else { throw AccountsError.missingContinueURI }
        let found = try await service.findCode(code?.reveal(), caller).code
        guard let code, found.type == .emailSignIn else { throw AccountsError.invalidOOBCode }
        return ActionLink.inApp(url, type: .emailSignIn, code: code, caller)
    }
}
