import Domain
import OAuth
import Projects
import Secrets
import Sessions
import Storage

/// The user whom a browser's cookie names at the authorization endpoint.
struct BrowserUser: Sendable {
    let found: BrowserSession
    let cookie: Secret
    /// Whether the user signed in for this request.
    let isForThis: Bool
    /// Whether the sign-in may do what is sensitive (``SensitiveOperation/grantAccess``).
    let isStrong: Bool

    var session: StoredSession { found.session }
    var account: Account { found.account }

    func facts(for request: AuthorizationRequest) -> AuthorizationStep.SignedIn {
        AuthorizationStep.SignedIn(
            authTime: session.authTime,
            isNamed: request.subject.map { $0 == account.id.rawValue } ?? true,
            isForThis: isForThis,
            isStrong: isStrong,
            maySilently: found.hasRoom
        )
    }
}

extension AccountsService {
    /// - Parameters:
    ///   - client: the application that asks, if one does.
    ///   - signedIn: the session of a sign-in for this request.
    ///   - isByUser: whether the browser says that its user caused the application's request, which is limited either
    ///     way; nil for a step that is none.
    /// - Returns: nil without a cookie, and if its session has ended. Only a browser's cookie counts, no refresh token.
    func browserUser(
        _ cookie: Secret?,
        of client: String? = nil,
        signedIn: String? = nil,
        isByUser: Bool? = nil,
        _ caller: Caller
    ) async throws -> BrowserUser? {
        guard let cookie, let token = RefreshToken(cookie.reveal()), token.projectNumber == caller.project.number,
            token.tenant == caller.tenant
        else { return nil }
        let found = try await sessions.browser(
            SessionKey(scope: caller.scope, account: token.account, session: token.session),
            secretHash: token.browserHash,
            client: client,
            idleSince: caller.project.settings.sessionsIdle(at: now()),
            within: isByUser.map {
                silentGrantLimits(of: token.account, to: client ?? "", isByUser: $0, caller)
            } ?? .none,
            now: now()
        )
        guard let found else { return nil }
        let isForThis = found.session.id.rawValue == signedIn
        let window = caller.project.settings.recentSignInSeconds
        let isRecent =
            isForThis || RecentSignIn.isRecent(authTime: found.session.authTime, now: seconds, window: window)
        let hasFactors = !needsSecondFactor(found.account, caller) || found.session.secondFactor != nil
        return BrowserUser(found: found, cookie: cookie, isForThis: isForThis, isStrong: isRecent && hasFactors)
    }
}
