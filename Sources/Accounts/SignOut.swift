import Linking
import Projects
import Sessions
import Storage

extension AccountsService { package var signOut: SignOut { SignOut(parts: parts) } }

/// Ends sessions of the signed-in account.
package struct SignOut: Sendable {
    let parts: Parts

    package enum Scope: String, Sendable {
        case current
        /// Only by the newest sign-in of all, and a recent one: a thief must not keep the owner out.
        case others
        case all
        /// The one that `sessionId` names, which must not have signed in later.
        case session
    }

    package func callAsFunction(idToken: String?, scope: Scope, sessionID: String?, _ caller: Caller) async throws {
        let user = try await parts.authenticate(idToken, caller: caller)
        try await parts.stores.rateLimits.take(parts.sessionLimits(of: user.account.id, user.session.id, caller))
        let which: SessionStore.Which
        switch scope {
        case .current: which = .only(user.session.id)
        case .others:
            try parts.require([.endOtherSessions], of: user, caller)
            which = .allBut(user.session.id)
        case .all: which = .all
        case .session:
            guard let id = sessionID.flatMap(SessionID.init(rawValue:)) else { throw AccountsError.sessionNotFound }
            which = .only(id)
        }
        let ended: Int?
        do {
            ended = try await parts.sessions.revoke(
                which,
                of: user.account.id,
                by: user.session.id,
                in: caller.scope,
                now: parts.now()
            )
        } catch is SessionStore.NewerSignIn { throw AccountsError.recentSignInRequired }
        guard let ended else { throw AccountsError.tokenExpired }
        if scope == .session, ended == 0 { throw AccountsError.sessionNotFound }
        AccountEvent.signedOut.log(user.account.id, caller)
    }
}

extension AccountsService { package var listSessions: ListSessions { ListSessions(parts: parts) } }

/// Lists the sessions of the signed-in account.
package struct ListSessions: Sendable {
    let parts: Parts

    package func callAsFunction(idToken: String?, _ caller: Caller) async throws -> [SessionSummary] {
        let user = try await parts.authenticate(idToken, caller: caller)
        let idle = caller.project.settings.sessionsIdle(at: parts.now())
        return try await parts.sessions.list(of: user.account.id, idleSince: idle, in: caller.scope)
            .map { SessionSummary($0, current: $0.id == user.session.id) }
    }
}

extension SessionSummary {
    init(_ session: SessionListing, current: Bool) {
        self.init(
            id: session.id,
            createdAt: session.createdAt,
            lastUsedAt: session.lastUsedAt,
            signInProvider: session.signInProvider,
            userAgent: session.userAgent,
            addressPrefix: session.addressPrefix,
            client: session.client,
            current: current
        )
    }
}
