import Delivery
import Federation
import Linking
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

/// The project's blocking functions (docs/reference/blocking-hooks.md): every path that creates an account or opens a
/// session calls them here, after every other check and just before it writes.
extension Parts {
    /// Requests the second factor if the account requires one, and otherwise calls the functions.
    func enter(
        _ account: Account,
        isNew: Bool = false,
        _ session: PreparedSession,
        by credential: FederatedCredential? = nil,
        _ caller: Caller
    ) async throws -> Entrance {
        if let challenge = try challenge(account, session, caller) {
            return Entrance(account: account, session: session, challenge: challenge)
        }
        return try await admit(account, isNew: isNew, session, by: credential, caller)
    }

    /// Asks whether an account may be created if it is new, and then whether it may be signed in.
    ///
    /// If a function disables an existing account, the sign-in is refused.
    func admit(
        _ account: Account,
        isNew: Bool = false,
        _ session: PreparedSession,
        method: ProviderID? = nil,
        by credential: FederatedCredential? = nil,
        _ caller: Caller
    ) async throws -> Entrance {
        var entrance = Entrance(account: account, session: session)
        if isNew { _ = try await ask(.beforeCreate, about: &entrance, method, credential, caller) }
        guard !entrance.account.isDisabled else { return entrance }
        let answer = try await ask(.beforeSignIn, about: &entrance, method, credential, caller)
        guard let answer, !isNew else { return entrance }
        var amendment = Amendment(version: account.version)
        amendment.displayName = answer.displayName
        amendment.photoURL = answer.photoURL
        amendment.emailVerified = answer.emailVerified
        amendment.customAttributes = answer.customClaims
        entrance.amendment = amendment
        guard entrance.account.isDisabled else { return entrance }
        _ = try await change(account.id, session: nil, caller) { [amendment] current, _ in
            guard current.version == account.version else { throw AccountsError.contended }
            var changes = AccountChanges()
            changes.amend(amendment)
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

    /// Whether a function is called before sign-ins, so that nothing may be written earlier.
    func asksBeforeSignIn(_ caller: Caller) -> Bool { caller.project.settings.blockingFunctions[.beforeSignIn] != nil }

    /// - Returns: the function's changes, already applied to `entrance`; nil if there is no function.
    private func ask(
        _ event: BlockingFunctions.Event,
        about entrance: inout Entrance,
        _ method: ProviderID?,
        _ credential: FederatedCredential?,
        _ caller: Caller
    ) async throws -> FunctionAnswer? {
        guard let url = caller.project.settings.blockingFunctions[event] else { return nil }
        let question = BlockingEvent(
            event: event,
            url: url,
            id: random.handle(),
            account: entrance.account,
            session: entrance.session.values,
            method: method ?? entrance.session.values.signInProvider,
            credential: credential,
            issuedAt: seconds
        )
        do {
            guard let functions else { throw FunctionError.unreachable("this process calls no functions") }
            let algorithm: SigningAlgorithm = caller.project.settings.signWithES256 ? .es256 : .rs256
            guard let key = configuration.signingKeys.signer(for: algorithm, at: seconds) else {
                throw NoSigningKey()
            }
            let claims = question.claims(caller, issuer: try issuer(of: caller.project))
            let jwt = try key.token(of: claims)
            var answer = try await functions.ask(url, of: event, for: caller.project.id, jwt: jwt)
            try check(&answer, event, &entrance)
            return answer
        } catch let error as FunctionError {
            log(event, error.cause, entrance.account, caller)
            throw AccountsError.blockingFunction(error.text)
        }
    }

    /// Applies the function's changes to what will be written, by the rules for admins.
    private func check(
        _ answer: inout FunctionAnswer,
        _ event: BlockingFunctions.Event,
        _ entrance: inout Entrance
    ) throws(FunctionError) {
        do throws(AccountsError) {
            if let name = answer.displayName { entrance.account.displayName = try ProfileRules.displayName(name) }
            if let url = answer.photoURL { entrance.account.photoURL = try ProfileRules.photoURL(url) }
            if let claims = answer.customClaims {
                let checked = try claims.map { text throws(AccountsError) in try CustomClaimRules.check(text) } ?? nil
                answer.customClaims = .some(checked)
                entrance.account.customAttributes = checked
            }
            if event == .beforeSignIn, let claims = answer.sessionClaims {
                entrance.session.values.claims = try CustomClaimRules.merge(
                    claims,
                    over: entrance.session.values.claims
                )
            }
        } catch {
            throw .malformed
        }
        if let verified = answer.emailVerified {
            let account = entrance.account
            // A second factor requires a verified email (T-D12).
            guard verified || !account.emailVerified || account.secondFactors.isEmpty else { throw .malformed }
            entrance.account.emailVerified = verified
        }
        if let disabled = answer.disabled { entrance.account.disabled = disabled }
    }

    private func log(_ event: BlockingFunctions.Event, _ cause: String, _ account: Account, _ caller: Caller) {
        Logger.current.notice(
            "A blocking function refused or failed",
            metadata: [
                "project.id": "\(caller.project.id)", "account.id": "\(account.id)", "event": "\(event.rawValue)",
                "error.cause": "\(cause)",
            ]
        )
    }
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

extension AccountChanges {
    mutating func amend(_ amendment: Amendment?) {
        guard let amendment else { return }
        if let name = amendment.displayName { displayName = name }
        if let url = amendment.photoURL { photoURL = url }
        if let verified = amendment.emailVerified { emailVerified = verified }
        if let claims = amendment.customAttributes { customAttributes = claims }
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
