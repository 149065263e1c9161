import Domain
import OAuth
import Projects
package import Secrets
import Sessions
import Storage
import StrictJSON
import Text

extension AccountsService { package var signOutBrowser: SignOutBrowser { SignOutBrowser(service: self) } }

/// Ends the browser's own session in a project, and those of applications to which it led (OpenID Connect RP-Initiated
/// Logout 1.0); an application with access while the user is away keeps it.
package struct SignOutBrowser: Sendable {
    let service: AccountsService

    /// - Parameter session: of the browser's cookie; nothing happens without one that lives.
    package func callAsFunction(_ session: Secret?, _ caller: Caller) async throws {
        guard let user = try await service.browserUser(session, caller) else { return }
        _ = try await service.sessions.revoke(
            .browser(user.session.id),
            of: user.account.id,
            in: caller.scope,
            now: service.now()
        )
    }

    /// The client that sends the browser: that of the ID token, expired or not, if it brings one.
    ///
    /// - Returns: nil for none, for an ID token that is none of the project's, and if the two differ: then the user can
    ///   sign out, but nothing of the request is used (§2, §4).
    package func client(_ id: String?, idTokenHint: String?, _ caller: Caller) throws -> String? {
        guard let idTokenHint else { return id }
        let issuer = try service.applicationIssuer(of: caller.project)
        guard let client = service.idToken(idTokenHint, of: issuer)?["aud"]?.string else { return nil }
        return id ?? client == client ? client : nil
    }

    /// Where the browser may go afterwards: only to what the application registered for this.
    ///
    /// - Returns: nil for none, for an unknown application, and for one that nobody vouches for: our host must lead to no
    ///   stranger's (threats.md, T-F27).
    package func destination(
        _ uri: String?,
        of client: String?,
        state: String?,
        _ caller: Caller
    ) async throws -> String? {
        guard let uri else { return nil }
        let found: OAuthClient
        do { found = try await service.client(client, mayBeNew: false, caller) } catch is OAuthError { return nil }
        guard !found.isStrangers, found.metadata.logoutURIs.contains(where: { $0.allows(uri) }) else { return nil }
        return state.map { uri.adding([("state", $0)]) } ?? uri
    }
}
