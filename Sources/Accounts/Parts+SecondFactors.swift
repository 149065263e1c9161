import Foundation
import Linking
import Projects
import Secrets
import Sessions
import Storage

/// What a first factor proved, until the second one is.
struct PendingSignIn: Codable, Sendable {
    /// Seconds for which it is good.
    static let lifetime: Int64 = 1_800

    var account: String
    /// When the first factor was proved, in seconds since 1970.
    var authTime: Int64
    /// The account's, then: it grows with every change that ends sessions, and that ends this too.
    var revokedVersion: Int64
    var provider: String
    var claims: String?
    var attributes: String?
}

/// An authenticator app that is about to be enrolled.
struct PendingEnrollment: Codable, Sendable {
    /// Seconds for which it is good.
    static let lifetime: Int64 = 900

    /// Who began goes on.
    var session: String
    var secret: Data
    /// Seconds since 1970.
    var startedAt: Int64
}

extension Parts {
    /// Whether a sign-in to the account takes more than a first factor.
    func needsSecondFactor(_ account: Account, _ caller: Caller) -> Bool {
        caller.project.settings.secondFactors.isOn && !account.secondFactors.isEmpty
    }

    /// The demand for a second factor, in place of the session that the first one would have opened; nil when none is
    /// needed.
    ///
    /// What is pending is sealed and handed out, so that nothing is stored of sign-ins that nobody finishes.
    ///
    /// - Parameter account: as the first factor leaves it.
    func challenge(
        _ account: Account,
        _ session: PreparedSession,
        _ caller: Caller
    ) throws -> SecondFactorChallenge? {
        guard needsSecondFactor(account, caller) else { return nil }
        let pending = PendingSignIn(
            account: account.id.rawValue,
            authTime: session.values.authTime,
            revokedVersion: account.revokedVersion,
            provider: session.values.signInProvider.rawValue,
            claims: session.values.claims,
            attributes: session.values.signInAttributes
        )
        AccountEvent.secondFactorAsked.log(account.id, provider: session.values.signInProvider, caller)
        return SecondFactorChallenge(
            pendingCredential: Secret("mfa_" + (try seal(pending, for: Self.pendingPlace(caller)))),
            factors: account.secondFactors
        )
    }

    /// What a first factor proved.
    ///
    /// - Parameters:
    ///   - missing: what it is called that there is none.
    ///   - late: what it is called that half an hour has passed.
    func pendingSignIn(
        _ text: String?,
        missing: SecondFactorError = .missingPendingCredentialAtEnd,
        late: SecondFactorError,
        _ caller: Caller
    ) throws(AccountsError) -> PendingSignIn {
        guard let text, !text.isEmpty else { throw .secondFactor(missing) }
        guard text.hasPrefix("mfa_"),
            let pending: PendingSignIn = open(text.dropFirst(4), for: Self.pendingPlace(caller))
        else { throw .secondFactor(.invalidPendingCredential) }
        guard seconds < pending.authTime + PendingSignIn.lifetime else { throw .secondFactor(late) }
        return pending
    }

    /// - Returns: the handle with which the enrolment goes on.
    func startEnrollment(_ pending: PendingEnrollment, _ caller: Caller) throws -> Secret {
        Secret("totp_" + (try seal(pending, for: Self.enrollmentPlace(caller))))
    }

    /// An enrolment that this very session began.
    func pendingEnrollment(
        _ text: String?,
        _ token: VerifiedIDToken,
        _ caller: Caller
    ) throws(AccountsError) -> PendingEnrollment {
        guard let text, !text.isEmpty else { throw .missingSessionInfo }
        guard text.hasPrefix("totp_"),
            let pending: PendingEnrollment = open(text.dropFirst(5), for: Self.enrollmentPlace(caller)),
            pending.session == token.session.rawValue
        else { throw .invalidSessionInfo }
        guard seconds < pending.startedAt + PendingEnrollment.lifetime else { throw .sessionExpired }
        return pending
    }

    /// For which place the secret of an enrolled app is sealed.
    static func secretPlace(_ account: AccountID, _ enrollment: String, _ caller: Caller) -> String {
        "accounts/\(caller.project.id)/\(account)/second_factors/\(enrollment)"
    }

    private static func pendingPlace(_ caller: Caller) -> String {
        "pending_sign_in/\(caller.project.id)/\(caller.tenant.rawValue)"
    }

    private static func enrollmentPlace(_ caller: Caller) -> String {
        "pending_enrollment/\(caller.project.id)/\(caller.tenant.rawValue)"
    }

    private func seal(_ value: some Encodable, for place: String) throws -> String {
        Base64URL.encode(try keyRing.seal([UInt8](JSONEncoder().encode(value)), for: place))
    }

    private func open<Value: Decodable>(_ text: Substring, for place: String) -> Value? {
        guard let sealed = Base64URL.decode(String(text)), let bytes = try? keyRing.open(sealed, for: place) else {
            return nil
        }
        return try? JSONDecoder().decode(Value.self, from: Data(bytes))
    }
}
