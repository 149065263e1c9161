import Domain
import Projects
import Sessions
import Storage

extension AccountsService { package var signOut: SignOut { SignOut(service: self) } }

/// Ends sessions of the signed-in account.
package struct SignOut: Sendable {
    let service: AccountsService

    package enum Scope: String, Sendable {
        case current
        /// Only by the newest sign-in of all, and a recent one: a thief must not keep the owner out.
        case others
        case all
        /// The one that `sessionId` names, which must not have signed in later.
        case session
    }

    package func callAsFunction(idToken: String?, scope: Scope, sessionID: String?, _ caller: Caller) async throws {
        let user = try await service.authenticate(idToken, caller: caller)
        try await service.stores.rateLimits.take(service.sessionLimits(of: user.account.id, user.session.id, caller))
        let which: SessionStore.Which
        switch scope {
        case .current: which = .only(user.session.id)
        case .others:
            try service.require([.endOtherSessions], of: user, caller)
            which = .allBut(user.session.id)
        case .all: which = .all
        case .session:
            guard let id = sessionID.flatMap(SessionID.init(rawValue:)) else { throw AccountsError.sessionNotFound }
            which = .only(id)
        }
        let ended: Int?
        do {
            ended = try await service.sessions.revoke(
                which,
                of: user.account.id,
                by: user.session.id,
                in: caller.scope,
                now: service.now()
            )
        } catch is SessionStore.NewerSignIn { throw AccountsError.recentSignInRequired }
        guard let ended else { throw AccountsError.tokenExpired }
        if scope == .session, ended == 0 { throw AccountsError.sessionNotFound }
        AccountEvent.signedOut.log(user.account.id, caller)
    }
}

extension AccountsService { package var listSessions: ListSessions { ListSessions(service: self) } }

/// Lists the sessions of the signed-in account.
package struct ListSessions: Sendable {
    let service: AccountsService

    package func callAsFunction(idToken: String?, _ caller: Caller) async throws -> [SessionSummary] {
        let user = try await service.authenticate(idToken, caller: caller)
        let idle = caller.project.settings.sessionsIdle(at: service.now())
        return try await service.sessions.list(of: user.account.id, idleSince: idle, in: caller.scope)
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
