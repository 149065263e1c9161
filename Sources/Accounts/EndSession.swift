package import Secrets
import Projects
import Sessions

extension AccountsService { package var endSession: EndSession { EndSession(service: self) } }

/// Ends the session of a refresh token, for a client that keeps nothing else of its user.
package struct EndSession: Sendable {
    let service: AccountsService

    /// - Throws: as ``Refresh``, if the session has ended already.
    package func callAsFunction(refreshToken: Secret, _ caller: Caller) async throws {
        let tokens = try await Refresh(service: service)(refreshToken: refreshToken, caller).tokens
        let tenant = IDTokenContent.claimedTenant(of: tokens.idToken) ?? TenantID.none
        let signOut = SignOut(service: service)
        try await signOut(idToken: tokens.idToken, scope: .current, sessionID: nil, caller.entering(tenant))
    }
}
