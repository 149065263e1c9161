package import Linking
package import Projects
package import Secrets
import Sessions
import Storage

/// Exchanges a refresh token for a fresh ID token: one statement.
package struct Refresh: Sendable {
    let parts: Parts

    package struct Result: Sendable {
        package var tokens: IssuedTokens
        package var account: AccountID
        package var project: ProjectNumber
    }

    package func callAsFunction(refreshToken: Secret?, _ caller: Caller) async throws -> Result {
        guard let refreshToken, !refreshToken.isEmpty else { throw AccountsError.missingRefreshToken }
        guard let token = RefreshToken(refreshToken.reveal()) else { throw AccountsError.invalidRefreshToken }
        guard token.projectNumber == caller.project.number else { throw AccountsError.projectNumberMismatch }
        guard
            let found = try await parts.sessions.refresh(
                project: caller.project.id,
                account: token.account,
                session: token.session,
                secretHash: token.secretHash,
                now: parts.now()
            )
        else { throw AccountsError.invalidRefreshToken }
        guard let account = found.account else { throw AccountsError.userNotFound }
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        guard !found.session.revoked, found.session.authTime >= account.validSince else {
            throw AccountsError.tokenExpired
        }
        let idToken = try parts.mint(
            for: account,
            session: found.session.id,
            authTime: found.session.authTime,
            provider: found.session.signInProvider,
            claims: found.session.claims,
            attributes: found.session.signInAttributes,
            project: caller.project,
            tenant: found.tenant
        )
        return Result(
            tokens: IssuedTokens(idToken: idToken, refreshToken: refreshToken),
            account: account.id,
            project: caller.project.number
        )
    }
}
