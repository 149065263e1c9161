import Projects
package import Secrets
import Storage

/// Where the link of a sign-in mail leads on to: the app, which takes the code itself.
///
/// Nothing is used up.
package struct FollowSignInLink: Sendable {
    let parts: Parts

    /// - Returns: the app's URL with the code, on a domain of the project's.
    package func callAsFunction(_ code: Secret?, continueURL: String?, _ caller: Caller) async throws -> String {
        guard caller.project.settings.emailLinkSignIn else { throw AccountsError.operationNotAllowed }
        guard let url = try parts.continueURL(continueURL, caller) else { throw AccountsError.missingContinueURI }
        let found = try await parts.findCode(code?.reveal(), caller).code
        guard let code, found.type == .emailSignIn else { throw AccountsError.invalidOOBCode }
        return ActionLink.inApp(url, type: .emailSignIn, code: code, caller)
    }
}
