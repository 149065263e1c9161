import Delivery
import Domain
import Federation
import Logging
import Projects
import Secrets
import Sessions
import Storage
import StrictJSON

/// A user who is about to be signed in, after the project's blocking functions were called.
struct Entrance: Sendable {
    /// The account as it will be.
    var account: Account
    var session: PreparedSession
    /// Set if the sign-in stops at the second factor, before any function is called.
    var challenge: SecondFactorChallenge?
    /// The changes to write with the sign-in to an existing account; nil if no function was called.
    var amendment: Amendment?

    /// The session to open; nil before a second factor, and for a new account that a function disabled.
    var newSession: NewSession? { challenge == nil && !account.isDisabled ? session.values : nil }
}

/// The project's blocking functions (docs/reference/blocking-hooks.md): every path that creates an account, opens a
/// session or links a provider calls them here, after every other check and just before it writes.
extension AccountsService {
    /// Requests the second factor if the account requires one, and otherwise calls the functions.
    ///
    /// - Parameter version: see ``admit(_:isNew:_:from:method:by:_:)``.
    func enter(
        _ account: Account,
        isNew: Bool = false,
        _ session: PreparedSession,
        from version: Int64? = nil,
        by credential: FederatedCredential? = nil,
        _ caller: Caller
    ) async throws -> Entrance {
        if let challenge = try challenge(account, session, caller) {
            return Entrance(account: account, session: session, challenge: challenge)
        }
        return try await admit(account, isNew: isNew, session, from: version, by: credential, caller)
    }

    /// Asks whether an account may be created if it is new, and then whether it may be signed in.
    ///
    /// If a function disables an existing account, the sign-in is refused.
    ///
    /// - Parameter version: of the account as it was read, if the sign-in itself changes it.
    func admit(
        _ account: Account,
        isNew: Bool = false,
        _ session: PreparedSession,
        from version: Int64? = nil,
        method: ProviderID? = nil,
        by credential: FederatedCredential? = nil,
        _ caller: Caller
    ) async throws -> Entrance {
        let entrance = try await asking(
            account,
            isNew: isNew,
            session,
            from: version,
            method: method,
            by: credential,
            caller
        )
        if entrance.newSession != nil { try requireFittingToken(of: entrance.account, entrance.session, caller) }
        return entrance
    }

    /// Asks whether an account may be created to which nobody signs in yet.
    func admit(new account: Account, method: ProviderID, _ caller: Caller) async throws -> Account {
        var account = account
        var signIn = BlockingEvent.SignIn(
            method: method,
            secondFactor: nil,
            attributes: nil,
            credential: nil,
            claims: nil
        )
        _ = try await ask(.beforeCreate, about: &account, isNew: true, &signIn, caller)
        return account
    }

    private func asking(
        _ account: Account,
        isNew: Bool,
        _ session: PreparedSession,
        from version: Int64?,
        method: ProviderID?,
        by credential: FederatedCredential?,
        _ caller: Caller
    ) async throws -> Entrance {
        var entrance = Entrance(account: account, session: session)
        var signIn = BlockingEvent.SignIn(
            method: method ?? session.values.signInProvider,
            secondFactor: session.values.secondFactor?.kind,
            attributes: session.values.signInAttributes,
            credential: credential,
            claims: session.values.claims
        )
        if isNew { _ = try await ask(.beforeCreate, about: &entrance.account, isNew: true, &signIn, caller) }
        guard !entrance.account.isDisabled else { return entrance }
        let answer = try await ask(.beforeSignIn, about: &entrance.account, isNew: isNew, &signIn, caller)
        entrance.session.values.claims = signIn.claims
        guard let answer, !isNew else { return entrance }
        entrance.amendment = try await amendment(answer, of: entrance.account, version ?? account.version, caller)
        return entrance
    }

    /// Asks whether a signed-in account may link a provider, a phone number or an email link, which counts as a sign-in
    /// with it.
    ///
    /// - Parameters:
    ///   - account: as it will be.
    ///   - version: of the account as it was read.
    ///   - session: the session that continues.
    /// - Returns: the account with the function's changes, and those to write.
    func admit(
        linkTo account: Account,
        from version: Int64,
        _ session: inout ContinuedSession,
        method: ProviderID,
        by credential: FederatedCredential? = nil,
        _ caller: Caller
    ) async throws -> (account: Account, amendment: Amendment?) {
        var account = account
        var signIn = BlockingEvent.SignIn(
            method: method,
            secondFactor: session.secondFactor?.kind,
            attributes: session.signInAttributes,
            credential: credential,
            claims: session.claims
        )
        let answer = try await ask(.beforeSignIn, about: &account, &signIn, caller)
        session.claims = signIn.claims
        guard let answer else { return (account, nil) }
        let amendment = try await amendment(answer, of: account, version, caller)
        return (account, amendment)
    }

    /// Links to the signed-in account by ``change(_:session:_:decide:)``, after the blocking function.
    ///
    /// - Parameter decide: may be called several times; its changes continue the session.
    func link(
        _ token: VerifiedIDToken,
        method: ProviderID,
        _ caller: Caller,
        decide: @escaping @Sendable (Account, StoredSession?) throws -> AccountChanges
    ) async throws -> ChangedAccount {
        guard asksBeforeSignIn(by: method, caller) else {
            return try await change(token.account, session: token.session, caller, decide: decide)
        }
        for number in Self.tries {
            try await pause(beforeTry: number)
            let found = try await accounts.find(token.account, session: token.session, in: caller.scope)
            guard let found else { throw AccountsError.userNotFound }
            let changes = try decide(found.account, found.session)
            guard case .renew(var session, _) = changes.session else { throw AccountsError.contended }
            let amendment = try await admit(
                linkTo: found.account.linked(by: changes),
                from: found.account.version,
                &session,
                method: method,
                caller
            ).amendment
            do {
                return try await change(token.account, session: token.session, caller) { [claims = session.claims] in
                    var changes = try decide($0, $1)
                    guard $0.stands(as: found.account) else { throw AccountMoved() }
                    changes.amend(amendment, $0)
                    if case .renew(var session, let retires) = changes.session {
                        session.claims = claims
                        changes.session = .renew(session, retiresOldSecret: retires)
                    }
                    return changes
                }
            } catch is AccountMoved {
                continue
            }
        }
        throw AccountsError.contended
    }

    /// The account changed while a function was asked about it.
    private struct AccountMoved: Error {}

    /// The function's changes to write to an existing account.
    ///
    /// - Throws: ``AccountsError/userDisabled`` after the account was disabled, if the function says so.
    private func amendment(
        _ answer: FunctionAnswer,
        of account: Account,
        _ version: Int64,
        _ caller: Caller
    ) async throws -> Amendment {
        var amendment = Amendment(version: version)
        amendment.displayName = answer.displayName
        amendment.photoURL = answer.photoURL
        amendment.emailVerified = answer.emailVerified
        amendment.customAttributes = answer.customClaims
        guard account.isDisabled else { return amendment }
        _ = try await change(account.id, session: nil, caller) { [amendment] current, _ in
            guard current.version == version, current.createdAt == account.createdAt else {
                throw AccountsError.contended
            }
            var changes = AccountChanges()
            changes.amend(amendment, current)
            changes.disabled = true
            return changes
        }
        throw AccountsError.userDisabled
    }

    /// The tokens of a user who was let in.
    ///
    /// - Throws: ``AccountsError/userDisabled`` after the account that a function disabled was written.
    func issueTokens(to entrance: Entrance, caller: Caller) throws -> IssuedTokens {
        guard !entrance.account.isDisabled else { throw AccountsError.userDisabled }
        return try issueTokens(for: entrance.account, entrance.session, caller: caller)
    }

    /// The end of a sign-in with a first factor.
    func result(of entrance: Entrance, caller: Caller) throws -> FirstFactorResult {
        if let challenge = entrance.challenge { return .needsSecondFactor(challenge) }
        return .signedIn(try issueTokens(to: entrance, caller: caller))
    }

    /// Whether a function is called before sign-ins by a method, so that nothing may be written earlier.
    func asksBeforeSignIn(by method: ProviderID, _ caller: Caller) -> Bool {
        function(for: .beforeSignIn, by: method, caller) != nil
    }

    /// The URL of the function to call; nil for none.
    ///
    /// Firebase calls none for anonymous users and custom tokens (its "Extend Firebase Authentication with blocking
    /// functions"), whose accounts lack what most functions read.
    private func function(for event: BlockingFunctions.Event, by method: ProviderID, _ caller: Caller) -> String? {
        let settings = caller.project.settings
        guard settings.asksFunctionsAboutAll || (method != .anonymous && method != .custom) else { return nil }
        return settings.blockingFunctions[event]
    }

    /// - Returns: the function's changes, already applied to `account` and `signIn`; nil if there is no function.
    /// - Throws: ``AccountsError/overloaded`` if too many calls of the caller's network are in progress: the function has
    ///   refused nothing then.
    private func ask(
        _ event: BlockingFunctions.Event,
        about account: inout Account,
        isNew: Bool = false,
        _ signIn: inout BlockingEvent.SignIn,
        _ caller: Caller
    ) async throws -> FunctionAnswer? {
        guard let url = function(for: event, by: signIn.method, caller) else { return nil }
        var asked = account
        if isNew {
            asked.lastSignInAt = account.createdAt
        } else if asked.lastSignInAt == nil {
            // The statements of sign-ins do not read it.
            asked.lastSignInAt = try await accounts.find(account.id, session: nil, in: caller.scope)?
                .account.lastSignInAt
        }
        let question = BlockingEvent(
            event: event,
            url: url,
            id: random.handle(),
            account: asked,
            signIn: signIn,
            issuedAt: seconds
        )
        do {
            guard let functions = options.functions else {
                throw FunctionError.unreachable("this process calls no functions")
            }
            let network = caller.askingNetwork
            guard functions.shares.enter(caller.project.id, network) else { throw AccountsError.overloaded }
            defer { functions.shares.leave(caller.project.id, network) }
            let algorithm: SigningAlgorithm = caller.project.settings.signWithES256 ? .es256 : .rs256
            let signer: (any TokenSigner)? =
                options.tokenSigner ?? configuration.signingKeys.signer(for: algorithm, at: seconds)
            guard let signer else { throw NoSigningKey() }
            let claims = question.claims(caller, issuer: try issuer(of: caller.project))
            let jwt = try signer.token(of: claims)
            var answer = try await functions.ask(url, of: event, for: caller.project.id, jwt: jwt)
            try check(&answer, event, &account, &signIn)
            return answer
        } catch let error as FunctionError {
            log(event, error.cause, account, caller)
            throw AccountsError.blockingFunction(error.text)
        }
    }

    /// Applies the function's changes to what will be written, by the rules for admins.
    private func check(
        _ answer: inout FunctionAnswer,
        _ event: BlockingFunctions.Event,
        _ account: inout Account,
        _ signIn: inout BlockingEvent.SignIn
    ) throws(FunctionError) {
        do throws(AccountsError) {
            if let name = answer.displayName { account.displayName = try ProfileRules.displayName(name) }
            if let url = answer.photoURL { account.photoURL = try ProfileRules.photoURL(url) }
            if let claims = answer.customClaims {
                let checked = try claims.map { text throws(AccountsError) in try CustomClaimRules.check(text) } ?? nil
                answer.customClaims = .some(checked)
                account.customAttributes = checked
            }
            if event == .beforeSignIn, let claims = answer.sessionClaims {
                signIn.claims = try CustomClaimRules.merge(claims, over: signIn.claims)
            }
        } catch {
            throw .malformed
        }
        if let verified = answer.emailVerified {
            // A second factor requires a verified email (T-D12).
            guard verified || !account.emailVerified || account.secondFactors.isEmpty else { throw .malformed }
            account.emailVerified = verified
        }
        if let disabled = answer.disabled { account.disabled = disabled }
    }

    private func log(_ event: BlockingFunctions.Event, _ cause: String, _ account: Account, _ caller: Caller) {
        var metadata: Logger.Metadata = [
            "project.id": "\(caller.project.id)", "account.id": "\(account.id)", "event": "\(event.rawValue)",
            "error.cause": "\(cause)",
        ]
        if caller.tenant != .none { metadata["tenant.id"] = "\(caller.tenant)" }
        Logger.current.notice("A blocking function refused or failed", metadata: metadata)
    }
}

extension Caller {
    /// Whose part of the project's calls it takes: a /48 counts as one network; nil if unknown, and for a back end, whose
    /// network is that of all its users.
    fileprivate var askingNetwork: String? { isBackEnd ? nil : site ?? subscriber }
}

extension FunctionError {
    /// The message for the app.
    fileprivate var text: String {
        switch self {
        case .timedOut: "The function did not respond in time."
        case .unreachable: "The function could not be reached."
        case .refused(_, let text?): "HTTP Cloud Function returned an error: \(text)"
        case .refused(let status, nil): "HTTP Cloud Function returned an error: \(status)"
        case .malformed: "The function's response is not valid."
        }
    }

    /// The cause for the log, without anything from the response.
    fileprivate var cause: String {
        switch self {
        case .timedOut: "it did not respond in time"
        case .unreachable(let cause): cause
        case .refused(let status, _): "status \(status)"
        case .malformed: "the response is not valid"
        }
    }
}

extension Account {
    /// As it will be once changes of ``AccountsService/link(_:method:_:decide:)`` are written.
    fileprivate func linked(by changes: AccountChanges) -> Account {
        var account = self
        if changes.firstVerification != nil { account.dropUnproved(validSince: validSince) }
        if let email = changes.email { account.email = email }
        if let verified = changes.emailVerified { account.emailVerified = verified }
        if let number = changes.phoneNumber { account.phoneNumber = number }
        if let emailLink = changes.emailLinkSignIn { account.emailLinkSignIn = emailLink }
        return account
    }
}

extension CustomClaimRules {
    /// - Returns: the claims of a session, overridden by others with the same names.
    static func merge(_ claims: String?, over before: String?) throws(AccountsError) -> String? {
        guard let claims = try claims.map({ text throws(AccountsError) in try check(text) }) ?? nil else {
            return before
        }
        guard let before else { return claims }
        guard let new = (try? JSONValue(parsing: claims.utf8))?.object,
            var all = (try? JSONValue(parsing: before.utf8))?.object
        else {
            throw .invalidClaims
        }
        for member in new.members { all[member.name] = member.value }
        return try check(JSONValue.object(all).jsonText)
    }
}
