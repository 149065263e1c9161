package import Linking
package import Projects
package import Secrets
import Sessions
import Storage
import struct Foundation.Date

/// Exchanges a refresh token for a fresh ID token: one statement, and one that ends a session where it finds reason to.
///
/// Where tokens rotate, the one that is used is replaced by its successor. It stays good for 60 seconds after that was
/// first used, for the tabs and retries that have not heard of it; its use later is taken for theft and ends the session.
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
        let key = SessionKey(project: caller.project.id, account: token.account, session: token.session)
        let rotates = caller.project.settings.rotateRefreshTokens
        let next = rotates ? token.successor(under: parts.keyRing) : nil
        let question = RefreshQuestion(
            key: key,
            secretHash: token.secretHash,
            successor: next?.secretHash,
            idleSince: caller.project.settings.sessionsIdle(at: parts.now()),
            now: parts.now()
        )
        let candidate: RefreshCandidate?
        do { candidate = try await parts.sessions.refresh(question) } catch is SessionContended {
            throw AccountsError.contended
        }
        guard let found = candidate else { throw AccountsError.invalidRefreshToken }
        let caller = try entering(found.tenant, caller)
        let use = try await self.use(of: token, next: next, as: found, key, caller)
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
            let idToken = try parts.mint(for: account, found.session, caller)
            return Result(
                tokens: IssuedTokens(idToken: idToken, refreshToken: Secret(refreshToken.text)),
                account: account.id,
                project: caller.project.number
            )
        case .late: throw AccountsError.tokenExpired
        case .stolen:
            try await end(found.session, of: account, because: "REFRESH_TOKEN_REUSED", caller)
            AccountEvent.refreshTokenReused.log(account.id, caller)
            throw AccountsError.tokenExpired
        }
    }

    private func end(
        _ session: StoredSession,
        of account: Account,
        because reason: String,
        _ caller: Caller
    ) async throws {
        _ = try await AuditOrigin.acting(as: .service, because: reason) {
            try await parts.sessions.revoke(.only(session.id), of: account.id, in: caller.scope, now: parts.now())
        }
    }

    /// The tenant of the token, which no other one takes.
    private func entering(_ tenant: TenantID, _ caller: Caller) throws(AccountsError) -> Caller {
        do { return try caller.entering(tenant) } catch .unknownTenant { throw .invalidRefreshToken }
    }

    private enum Use {
        /// With the token that the client is to use from now on.
        case good(RefreshToken)
        /// Too old, with an explanation that is no theft.
        case late
        case stolen
    }

    /// For so long a token stays good after its successor was first used.
    private static let graceSeconds = 60.0

    private func use(
        of token: RefreshToken,
        next: RefreshToken?,
        as found: RefreshCandidate,
        _ key: SessionKey,
        _ caller: Caller
    ) async throws -> Use {
        switch found.standing {
        case .current: return .good(next ?? token)
        case .renewed(let usedAt):
            // Its successor does not follow from it: the token is repeated, as without rotation.
            guard let usedAt, parts.now() >= usedAt.addingTimeInterval(Self.graceSeconds) else { return .good(token) }
            return next == nil ? .late : .stolen
        case .retired: return .late
        case .unknown: return try await earlierUse(of: token, key, caller)
        }
    }

    /// A token so many generations before the current one: good until its successor is used, and a minute longer.
    private func use(behind: Int, _ rotations: [Date], _ successor: RefreshToken) -> Use {
        guard behind > 1 else { return .good(successor) }
        // The successor was first used when it was replaced itself.
        let replacement = behind - 2
        guard rotations.indices.contains(replacement) else {
            // Replaced faster than is on record: it may have been good a moment ago.
            guard let oldest = rotations.last, isWithinGrace(oldest) else { return .stolen }
            return .late
        }
        return isWithinGrace(rotations[replacement]) ? .good(successor) : .stolen
    }

    private func isWithinGrace(_ date: Date) -> Bool { parts.now() < date.addingTimeInterval(Self.graceSeconds) }

    /// Looks whether a token that is none of the last ones led to the current one, under any key of the ring.
    ///
    /// Whoever knows a session can have it looked for, with any text: the caller's network address may so often.
    private func earlierUse(of token: RefreshToken, _ key: SessionKey, _ caller: Caller) async throws -> Use {
        guard let history = try await parts.sessions.history(of: key, within: parts.refreshLimits(caller)) else {
            throw AccountsError.invalidRefreshToken
        }
        for index in 0..<parts.keyRing.count {
            let successor = token.successor(under: parts.keyRing, key: index)
            var later = successor
            for behind in 1...max(1, min(history.generation, Self.longestHistory)) {
                if later.secretHash == history.secretHash { return use(behind: behind, history.rotations, successor) }
                later = later.successor(under: parts.keyRing, key: index)
            }
        }
        throw AccountsError.invalidRefreshToken
    }

    /// Generations back to which a stolen token is told from one that never was: some milliseconds of computing.
    private static let longestHistory = 2_000
}
