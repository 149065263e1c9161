package import Linking
import OAuth
package import Projects
package import Secrets
import Sessions
import Storage
import Traces
import struct Foundation.Date

extension AccountsService { package var refresh: Refresh { Refresh(parts: parts) } }

/// Exchanges a refresh token for a new ID token, in one statement, and a second one if the session must end.
///
/// With rotation, each use replaces the token with its successor. The old token stays valid for 60 seconds after the
/// successor is first used, for tabs and retries that do not have it yet. A later use counts as theft and ends the
/// session.
package struct Refresh: Sendable {
    let parts: Parts

    package struct Result: Sendable {
        package var tokens: IssuedTokens
        package var account: AccountID
        package var project: ProjectNumber
    }

    package func callAsFunction(refreshToken: Secret?, _ caller: Caller) async throws -> Result {
        let used = try await use(refreshToken, rotates: caller.project.settings.rotateRefreshTokens, caller)
        let idToken = try parts.mint(for: used.account, used.session, used.caller)
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
        let key = SessionKey(project: caller.project.id, account: token.account, session: token.session)
        let next = rotates ? token.successor(under: parts.keyRing) : nil
        let question = RefreshQuestion(
            key: key,
            secretHash: token.secretHash,
            client: client.map { client in keyThumbprint.map { "\(client) \($0)" } ?? client },
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

    /// The token's tenant; every other tenant refuses it.
    private func entering(_ tenant: TenantID, _ caller: Caller) throws(AccountsError) -> Caller {
        do { return try caller.entering(tenant) } catch .unknownTenant { throw .invalidRefreshToken }
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
        next: RefreshToken?,
        as found: RefreshCandidate,
        _ key: SessionKey,
        _ caller: Caller
    ) async throws -> Use {
        switch found.standing {
        case .current: return .good(next ?? token)
        case .renewed(let usedAt):
            // Its successor is not derived from it, so the token stays the same, as without rotation.
            guard let usedAt, parts.now() >= usedAt.addingTimeInterval(Self.graceSeconds) else { return .good(token) }
            return next == nil ? .late : .stolen
        case .retired: return .late
        case .unknown: return try await earlierUse(of: token, key, caller)
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

    private func isWithinGrace(_ date: Date) -> Bool { parts.now() < date.addingTimeInterval(Self.graceSeconds) }

    private func earlierUse(of token: RefreshToken, _ key: SessionKey, _ caller: Caller) async throws -> Use {
        guard let earlier = try await parts.earlier(token, of: key, caller) else {
            throw AccountsError.invalidRefreshToken
        }
        return use(behind: earlier.behind, earlier.rotations, earlier.successor)
    }
}

/// A token that led to its session's current one.
struct EarlierToken: Sendable {
    /// The number of generations since, from 1.
    var behind: Int
    /// The times of the session's last replacements, newest first.
    var rotations: [Date]
    var successor: RefreshToken
}

extension Parts {
    /// Finds out whether an old token led to the current one, under any key of the ring; nil if it did not.
    ///
    /// Anyone who knows a session ID can trigger this with any text, so it is limited by network address.
    func earlier(_ token: RefreshToken, of key: SessionKey, _ caller: Caller) async throws -> EarlierToken? {
        guard let history = try await sessions.history(of: key, within: refreshLimits(caller)) else { return nil }
        for index in 0..<keyRing.count {
            let successor = token.successor(under: keyRing, key: index)
            var later = successor
            for behind in 1...max(1, min(history.generation, Self.longestHistory)) {
                if later.secretHash == history.secretHash {
                    return EarlierToken(behind: behind, rotations: history.rotations, successor: successor)
                }
                later = later.successor(under: keyRing, key: index)
            }
        }
        return nil
    }

    /// The number of generations back to which a stolen token is distinguished from an invented one: some milliseconds
    /// of computation.
    private static let longestHistory = 2_000
}
