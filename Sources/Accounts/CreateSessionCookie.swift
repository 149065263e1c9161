import Domain
package import Projects
import Sessions
import Storage

extension AccountsService {
    package var createSessionCookie: CreateSessionCookie { CreateSessionCookie(service: self) }
}

/// Exchanges an ID token for a session cookie, as back ends do right after a sign-in.
///
/// As in Firebase, the back end checks how long ago the sign-in was (`auth_time`), unless the project sets a limit.
package struct CreateSessionCookie: Sendable {
    let service: AccountsService

    /// - Parameter duration: in seconds; nil for the maximum.
    package func callAsFunction(
        idToken: String?,
        duration: Int64?,
        _ project: Project
    ) async throws -> String {
        let duration = duration ?? SessionCookie.durations.upperBound
        guard SessionCookie.durations.contains(duration) else { throw AccountsError.invalidDuration }
        let caller = Caller(project: project)
        let user = try await service.authenticate(idToken, caller: caller)
        let window = project.settings.sessionCookieSignInSeconds
        guard RecentSignIn.isRecent(authTime: user.token.authTime, now: service.seconds, window: window) else {
            throw AccountsError.recentSignInRequired
        }
        let payload: [UInt8]?
        let key = service.configuration.cookieKeys.signer(for: .rs256, at: service.seconds)
        guard let signer: any TokenSigner = service.options.tokenSigner ?? key else { throw NoSigningKey() }
        do throws(IDTokenMintingError) {
            payload = try SessionCookie.payload(
                of: idToken ?? "",
                project: project.id,
                now: service.seconds,
                duration: duration,
                by: signer
            )
        } catch {
            AccountEvent.cookieTooLarge.log(user.account.id, caller)
            throw AccountsError.cookieTooLarge
        }
        guard let payload else { throw AccountsError.invalidIDToken }
        try await service.stores.auditLog.record(
            .sessionCookieCreated,
            in: caller.scope,
            account: user.account.id,
            at: service.now()
        )
        AccountEvent.sessionCookieCreated.log(user.account.id, caller)
        return try service.options.tokenSigner?.token(of: payload) ?? key?.cookie(of: payload)
            ?? { throw NoSigningKey() }()
    }
}
