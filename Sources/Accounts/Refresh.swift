package import Domain
import OAuth
package import Projects
import Requests
package import Secrets
import Sessions
import Storage
import struct Foundation.Date

extension AccountsService { package var refresh: Refresh { Refresh(service: self) } }

/// Exchanges a refresh token for a new ID token, in one statement, and a second one if the session must end.
///
/// With rotation, each use replaces the token with its successor. The old token stays valid for 60 seconds after the
/// successor is first used, for tabs and retries that do not have it yet. A later use counts as theft and ends the
/// session.
package struct Refresh: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var tokens: IssuedTokens
        package var account: AccountID
        package var project: ProjectNumber
    }

    package func callAsFunction(refreshToken: Secret?, _ caller: Caller) async throws -> Result {
        let used = try await use(refreshToken, rotates: caller.project.settings.rotateRefreshTokens, caller)
        let idToken = try service.mint(for: used.account, used.session, used.caller)
        return Result(
            tokens: IssuedTokens(idToken: idToken, refreshToken: used.refreshToken),
            account: used.account.id,
            project: caller.project.number
        )
    }

    /// A session that goes on.
    struct Used {
        var session: StoredSession
        var account: Account
        /// What the user granted the application.
        var grant: ApplicationGrant?
        /// The token that the client uses from now on.
        var refreshToken: Secret
        /// In the session's tenant.
        var caller: Caller
    }

    /// - Parameters:
    ///   - client: the application whose token it is; nil for an app of the project itself.
    ///   - keyThumbprint: of the key to which the application's token is bound; nil for none.
    ///   - rotates: whether each use replaces the token.
    func use(
        _ refreshToken: Secret?,
        of client: String? = nil,
        key keyThumbprint: String? = nil,
        rotates: Bool,
        _ caller: Caller
    ) async throws -> Used {
        guard let refreshToken, !refreshToken.isEmpty else { throw AccountsError.missingRefreshToken }
        guard let token = RefreshToken(refreshToken.reveal()) else { throw AccountsError.invalidRefreshToken }
        guard token.projectNumber == caller.project.number else { throw AccountsError.projectNumberMismatch }
        let caller = try await entering(token, isApplications: client != nil, caller)
        let key = SessionKey(scope: caller.scope, account: token.account, session: token.session)
        let next = rotates ? token.nextSecret(under: service.keyRing) : nil
        let question = RefreshQuestion(
            key: key,
            secretHash: token.secretHash,
            client: client.map { client in keyThumbprint.map { "\(client) \($0)" } ?? client },
            successor: next.map { RefreshToken.hash(of: $0) },
            idleSince: caller.project.settings.sessionsIdle(at: service.now()),
            now: service.now()
        )
        guard var found = try await find(question) else { throw try await refusal(of: token, key) }
        let use: Use
        switch found.standing == .unknown ? try await afterRestore(token, question) : nil {
        case .wentOn: use = .stolen
        case .taken:
            guard let taken = try await find(question) else { throw AccountsError.invalidRefreshToken }
            found = taken
            fallthrough
        case nil: use = try await self.use(of: token, next: next, as: found, key, caller)
        }
        guard let account = found.account else { throw AccountsError.userNotFound }
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        guard !found.session.revoked, found.session.authTime >= account.validSince else {
            throw AccountsError.tokenExpired
        }
        switch use {
        case .good where found.isIdle:
            try await end(found.session, of: account, because: "SESSION_IDLE", caller)
            AccountEvent.sessionIdle.log(account.id, caller)
            throw AccountsError.tokenExpired
        case .good(let refreshToken):
            return Used(
                session: found.session,
                account: account,
                grant: found.grant,
                refreshToken: Secret(refreshToken.text),
                caller: caller
            )
        case .late: throw AccountsError.tokenExpired
        case .stolen:
            try await end(found.session, of: account, because: "REFRESH_TOKEN_REUSED", caller)
            AccountEvent.refreshTokenReused.log(account.id, caller)
            throw AccountsError.tokenExpired
        }
    }

    private func find(_ question: RefreshQuestion) async throws -> RefreshCandidate? {
        do { return try await service.sessions.refresh(question) } catch is SessionContended {
            throw AccountsError.contended
        }
    }

    /// Why there is no session of a token.
    ///
    /// The service may have made the token although the database does not know its session, because that was cleaned up, or
    /// began after the time to which the database was restored. SDKs sign out then, as they must.
    private func refusal(of token: RefreshToken, _ key: SessionKey) async throws -> AccountsError {
        guard token.isGenuine(under: service.keyRing) else { return .invalidRefreshToken }
        switch try await service.sessions.absence(of: key) {
        case .account: return .userNotFound
        case .session: return .tokenExpired
        case .none: return .invalidRefreshToken
        }
    }

    /// What a token is that the session has not made yet, because its database was restored, and an operator has declared
    /// that; nil for any other.
    private func afterRestore(
        _ token: RefreshToken,
        _ question: RefreshQuestion
    ) async throws -> SessionStore.AfterRestore? {
        guard let generation = token.generation, token.isGenuine(under: service.keyRing) else { return nil }
        return try await service.sessions.takeAfterRestore(question, generation: generation)
    }

    private func end(
        _ session: StoredSession,
        of account: Account,
        because reason: String,
        _ caller: Caller
    ) async throws {
        _ = try await AuditOrigin.acting(as: .service, because: reason) {
            try await service.sessions.revoke(.only(session.id), of: account.id, in: caller.scope, now: service.now())
        }
    }

    /// The caller in the token's tenant, which every other one refuses; an application's tokens are the project's own.
    private func entering(_ token: RefreshToken, isApplications: Bool, _ caller: Caller) async throws -> Caller {
        guard !isApplications || token.tenant == caller.tenant else { throw AccountsError.invalidRefreshToken }
        do throws(AccountsError) { return try caller.entering(token.tenant) } catch {
            guard error == .unknownTenant else { throw error }
            guard caller.tenant == .none else { throw AccountsError.invalidRefreshToken }
            // A deleted one has no accounts; one that this node does not know has.
            let scope = Scope(project: caller.project.id, tenant: token.tenant)
            throw try await refusal(
                of: token,
                SessionKey(scope: scope, account: token.account, session: token.session)
            )
        }
    }

    private enum Use {
        /// With the token that the client uses from now on.
        case good(RefreshToken)
        /// Too late, but explainable without theft.
        case late
        case stolen
    }

    /// How long a token stays valid after its successor is first used, in seconds.
    private static let graceSeconds = 60.0

    private func use(
        of token: RefreshToken,
        next: Secret?,
        as found: RefreshCandidate,
        _ key: SessionKey,
        _ caller: Caller
    ) async throws -> Use {
        switch found.standing {
        case .current:
            guard let next else { return .good(token) }
            return .good(token.with(next, generation: found.generation, under: service.keyRing))
        case .renewed(let usedAt):
            // Its successor is not derived from it, so the token stays the same, as without rotation.
            guard let usedAt, service.now() >= usedAt.addingTimeInterval(Self.graceSeconds) else { return .good(token) }
            return next == nil ? .late : .stolen
        case .retired: return .late
        case .unknown: return try await earlierUse(of: token, rotates: next != nil, key, caller)
        }
    }

    /// Classifies a token some generations before the current one: valid until its successor is used, and for a minute
    /// after.
    private func use(behind: Int, _ rotations: [Date], _ successor: RefreshToken) -> Use {
        guard behind > 1 else { return .good(successor) }
        // The successor was first used when it was itself replaced.
        let replacement = behind - 2
        guard rotations.indices.contains(replacement) else {
            // Replaced faster than the history records: it may have been valid a moment ago.
            guard let oldest = rotations.last, isWithinGrace(oldest) else { return .stolen }
            return .late
        }
        return isWithinGrace(rotations[replacement]) ? .good(successor) : .stolen
    }

    private func isWithinGrace(_ date: Date) -> Bool { service.now() < date.addingTimeInterval(Self.graceSeconds) }

    private func earlierUse(
        of token: RefreshToken,
        rotates: Bool,
        _ key: SessionKey,
        _ caller: Caller
    ) async throws -> Use {
        switch try await service.earlier(token, of: key, caller) {
        case .replaced(let earlier): return use(behind: earlier.behind, earlier.rotations, earlier.successor)
        case .ofAnotherLine: return .late
        case .continued(let behind, let rotations):
            // A client whose session a sign-in continues gets that one's token, so none uses two generations before.
            guard rotates, case .stolen = use(behind: behind, rotations, token) else { return .late }
            return .stolen
        case .longAgo: return .stolen
        case nil: throw AccountsError.invalidRefreshToken
        }
    }
}

/// What a token was to its session that is neither its current nor its previous one.
enum EarlierToken: Sendable {
    /// It led to the current one.
    case replaced(Replaced)
    /// The service made it for the session, but the current one does not come from it: of a future that a restore of the
    /// database has undone, or of before a change of the password or email.
    case ofAnotherLine
    /// The service made it for the session so many generations ago, and a sign-in has continued the session since, or the
    /// encryption key has changed, so that the current one does not come from it. Whoever holds a stolen token can sign in
    /// too, and must be noticed.
    case continued(behind: Int, rotations: [Date])
    /// The service made it for the session, which has replaced it more often than can be followed: whoever holds the current
    /// one may have done that so that this one is not noticed.
    case longAgo

    struct Replaced: Sendable {
        /// The number of generations since, from 1.
        var behind: Int
        /// The times of the session's last replacements, newest first.
        var rotations: [Date]
        var successor: RefreshToken
    }
}

extension AccountsService {
    /// What an old token was to its session; nil for one that the service did not make, as far as can be known.
    ///
    /// Anyone who knows a session ID can trigger this with any text, so it is limited by network address.
    func earlier(_ token: RefreshToken, of key: SessionKey, _ caller: Caller) async throws -> EarlierToken? {
        guard let history = try await sessions.history(of: key, within: refreshLimits(caller)) else { return nil }
        for index in 0..<keyRing.count {
            let next = token.nextSecret(under: keyRing, key: index)
            var later = next
            for behind in 1...max(1, min(history.generation, Self.longestHistory)) {
                if RefreshToken.hash(of: later) == history.secretHash {
                    let successor = token.with(next, generation: history.generation - behind + 1, under: keyRing)
                    return .replaced(.init(behind: behind, rotations: history.rotations, successor: successor))
                }
                later = RefreshToken.secret(after: later, of: token.session, under: keyRing, key: index)
            }
        }
        guard let generation = token.generation, token.isGenuine(under: keyRing) else { return nil }
        if history.generation - generation >= Self.longestHistory { return .longAgo }
        guard generation != history.generation else { return nil }
        let behind = history.generation - generation
        guard behind > 0, !history.isRetired(behind: behind) else { return .ofAnotherLine }
        return .continued(behind: behind, rotations: history.rotations)
    }

    /// The number of generations back to which a stolen token is distinguished from an invented one: some milliseconds
    /// of computation.
    private static let longestHistory = 2_000
}
