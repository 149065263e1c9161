import Domain
import Projects
import Storage

/// The end of sign-ins that one first factor decides.
extension AccountsService {
    typealias SignedIn = (account: Account, tokens: IssuedTokens)

    /// Creates an account with a session, after the blocking functions.
    ///
    /// - Parameters:
    ///   - method: the method, if it differs from the session's provider.
    ///   - code: ends with the sign-up.
    ///   - holder: the account that has the email and loses it (S16).
    /// - Throws: ``AccountsError`` if another account has one of the claims.
    func create(
        _ account: Account,
        _ session: PreparedSession,
        method: ProviderID? = nil,
        password: StoredPassword? = nil,
        spending code: OneTimeCode? = nil,
        displacing holder: Account? = nil,
        within limits: RateLimits = .none,
        _ caller: Caller
    ) async throws -> SignedIn {
        var entrance = try await admit(account, isNew: true, session, method: method, caller)
        entrance.account = try await spending { [entrance] in
            try await accounts.insert(
                entrance.account,
                password: password,
                session: entrance.newSession,
                spending: code,
                displacing: displaced(holder, by: account, caller),
                isTold: caller.tellsOfNewAccounts,
                within: limits,
                in: caller.scope,
                now: now()
            )
        }
        AccountEvent.signedUp.log(account.id, provider: method ?? session.values.signInProvider, caller)
        return (entrance.account, try issueTokens(to: entrance, caller: caller))
    }

    /// Opens a session for an account, after the blocking function; changes nothing else.
    ///
    /// - Returns: nil if the account changed in the meantime.
    func signIn(
        to account: Account,
        _ session: PreparedSession,
        method: ProviderID? = nil,
        spending code: OneTimeCode?,
        _ caller: Caller
    ) async throws -> SignedIn? {
        let entrance = try await admit(account, session, method: method, caller)
        let isSignedIn = try await spending {
            try await accounts.openSession(
                entrance.session.values,
                for: account,
                spending: code,
                amendment: entrance.amendment,
                in: caller.scope,
                now: now()
            )
        }
        guard isSignedIn else { return nil }
        AccountEvent.signedIn.log(account.id, provider: method ?? session.values.signInProvider, caller)
        return (entrance.account, try issueTokens(to: entrance, caller: caller))
    }

    /// Creates an account to which nobody signs in yet, with a password, after the blocking function.
    ///
    /// - Parameter holder: the account that has the email and loses it (S16).
    func create(
        _ account: Account,
        password: StoredPassword,
        spending code: OneTimeCode,
        displacing holder: Account,
        _ caller: Caller
    ) async throws {
        let account = try await admit(new: account, method: .password, caller)
        try await spending {
            _ = try await accounts.insert(
                account,
                password: password,
                session: nil,
                spending: code,
                displacing: displaced(holder, by: account, caller),
                isTold: caller.tellsOfNewAccounts,
                in: caller.scope,
                now: now()
            )
        }
        AccountEvent.signedUp.log(account.id, provider: .password, caller)
    }

    private func displaced(_ holder: Account?, by account: Account, _ caller: Caller) -> DisplacedEmail? {
        guard let holder, let email = account.email else { return nil }
        var displaced = displaced(email, of: holder.id, caller)
        displaced.forgives = forgivenLimits(for: email, caller)
        return displaced
    }

    private func spending<R>(_ write: () async throws -> R) async throws -> R {
        do {
            return try await write()
        } catch let error as SpentCode {
            throw AccountsError(error)
        } catch let conflict as ClaimConflict {
            throw AccountsError(conflict)
        }
    }
}
