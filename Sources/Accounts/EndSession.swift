package import Secrets
import Projects
import Sessions

extension AccountsService { package var endSession: EndSession { EndSession(parts: parts) } }

/// Ends the session of a refresh token, for a client that keeps nothing else of its user.
package struct EndSession: Sendable {
    let parts: Parts

    /// - Throws: as ``Refresh``, if the session has ended already.
    package func callAsFunction(refreshToken: Secret, _ caller: Caller) async throws {
        let tokens = try await Refresh(parts: parts)(refreshToken: refreshToken, caller).tokens
        let tenant = IDTokenContent.claimedTenant(of: tokens.idToken) ?? TenantID.none
        let signOut = SignOut(parts: parts)
        try await signOut(idToken: tokens.idToken, scope: .current, sessionID: nil, caller.entering(tenant))
    }
}
