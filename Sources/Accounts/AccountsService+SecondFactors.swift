import Domain
import Foundation
import Projects
import Secrets
import Sessions
import Storage

/// A pending sign-in: the first factor is proved, the second is not yet.
struct PendingSignIn: Codable, Sendable {
    /// The lifetime in seconds.
    static let lifetime: Int64 = 1_800

    var account: String
    /// When the first factor was proved, in seconds since 1970.
    var authTime: Int64
    /// The account's version at that time of the last change that ended sessions; a later change also ends this
    /// sign-in.
    var revokedVersion: Int64
    var provider: String
    var claims: String?
    var attributes: String?
}

/// An authenticator app that is being enrolled.
struct PendingEnrollment: Codable, Sendable {
    /// The lifetime in seconds.
    static let lifetime: Int64 = 900

    /// The session that started the enrollment must finish it.
    var session: String
    var secret: Data
    /// Seconds since 1970.
    var startedAt: Int64
}

extension AccountsService {
    /// Whether a sign-in to the account requires a second factor.
    func needsSecondFactor(_ account: Account, _ caller: Caller) -> Bool {
        caller.project.settings.secondFactors.isOn && !account.secondFactors.isEmpty
            || asksForPasskey(account, caller)
    }

    /// Whether a passkey of the account is a second factor (``Projects/PasskeySettings/isSecondFactor``).
    func asksForPasskey(_ account: Account, _ caller: Caller) -> Bool {
        let settings = caller.project.settings.passkeys
        return settings.isSecondFactor && settings.relyingParty != nil && !account.passkeys.isEmpty
    }

    /// The request for a second factor, instead of the session that the first factor would have opened; nil if none is
    /// needed, or a passkey proved two factors.
    ///
    /// The pending sign-in is sealed and given to the client, so unfinished sign-ins store nothing.
    ///
    /// - Parameter account: as the first factor leaves it.
    func challenge(
        _ account: Account,
        _ session: PreparedSession,
        _ caller: Caller
    ) throws -> SecondFactorChallenge? {
        let factors = caller.project.settings.secondFactors.isOn ? account.secondFactors : []
        // A passkey is no second factor of itself.
        let offersPasskey = asksForPasskey(account, caller) && session.values.signInProvider != .passkey
        guard !factors.isEmpty || offersPasskey, session.values.secondFactor == nil else { return nil }
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
            factors: factors,
            offersPasskey: offersPasskey
        )
    }

    /// A pending sign-in.
    ///
    /// - Parameters:
    ///   - missing: the error if there is none.
    ///   - late: the error after half an hour.
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

    /// - Returns: the handle with which the enrollment continues.
    func startEnrollment(_ pending: PendingEnrollment, _ caller: Caller) throws -> Secret {
        Secret("totp_" + (try seal(pending, for: Self.enrollmentPlace(caller))))
    }

    /// An enrollment that this session started.
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

    /// The place that an enrolled app's secret is sealed for.
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
