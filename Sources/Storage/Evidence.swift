package import Domain
package import Federation
package import Passkeys
package import Passwords
package import Secrets
package import Sessions

/// What a caller proved, and when: the only source of a session's `auth_time` and second factor (threats.md, T-A15).
///
/// The initializers that other modules can call take values that only the code that checks a proof can create. A
/// session that continues without evidence keeps its row's values: see ``ContinuedSession``.
package struct Evidence: Sendable, Hashable {
    package enum Proof: Sendable, Hashable {
        /// The account is created with this session, so there was nothing to prove.
        case newAccount(AccountID)
        case password
        case identity(ProviderID, subject: String)
        /// A link or code from an email to this address.
        case mail(EmailAddress)
        /// A code from an SMS to this number.
        case phone(PhoneNumber)
        /// A passkey, by its ID.
        case passkey(String)
        /// A custom token from a back end.
        case customToken
        /// A code of the second factor, after the first factor.
        case secondFactor
    }

    package let proof: Proof
    /// Seconds since 1970.
    package let provedAt: Int64
    /// Nil for the first factor alone.
    package let secondFactor: IDTokenClaims.SecondFactor?

    /// Internal: code outside `Storage` cannot create evidence without a proof.
    init(_ proof: Proof, at seconds: Int64, secondFactor: IDTokenClaims.SecondFactor? = nil) {
        self.proof = proof
        provedAt = seconds
        self.secondFactor = secondFactor
    }

    package init(newAccount account: Account, at seconds: Int64) { self.init(.newAccount(account.id), at: seconds) }

    /// The caller entered the password of a hash.
    package init(_ match: PasswordMatch, at seconds: Int64) { self.init(.password, at: seconds) }

    /// The caller has just set the password.
    package init(settingPassword password: StoredPassword, at seconds: Int64) { self.init(.password, at: seconds) }

    package init(_ credential: FederatedCredential, at seconds: Int64) {
        self.init(.identity(credential.identity.provider, subject: credential.identity.subject), at: seconds)
    }

    package init(_ code: OOBCode, at seconds: Int64) { self.init(.mail(code.email), at: seconds) }

    package init(_ token: CustomToken, at seconds: Int64) { self.init(.customToken, at: seconds) }

    /// A passkey whose authenticator verified the user is two factors: the device, and its PIN or a biometric.
    package init(_ assertion: VerifiedAssertion, at seconds: Int64) {
        let id = assertion.record.id.description
        self.init(
            .passkey(id),
            at: seconds,
            secondFactor: assertion.isUserVerified ? .init(kind: "passkey", enrollment: id) : nil
        )
    }

    /// A passkey after another factor: the device, whether or not it verified the user.
    package init(secondFactor assertion: VerifiedAssertion, at seconds: Int64) {
        let factor = IDTokenClaims.SecondFactor(kind: "passkey", enrollment: assertion.record.id.description)
        self.init(.secondFactor, at: seconds, secondFactor: factor)
    }

    /// - Returns: nil if the code was wrong.
    package init?(_ tried: TriedCode, at seconds: Int64) {
        guard tried.isRight else { return nil }
        self.init(.phone(tried.phoneNumber), at: seconds)
    }

    /// A code from an authenticator app.
    package init(_ match: TOTP.Match, of enrollment: String, at seconds: Int64) {
        self.init(.secondFactor, at: seconds, secondFactor: .init(kind: "totp", enrollment: enrollment))
    }

    /// The code of an SMS to an enrolled number.
    ///
    /// - Returns: nil if the evidence is about something else.
    package func asSecondFactor(_ factor: SecondFactor) -> Evidence? {
        guard case .phone(let number) = proof, factor.phoneNumber == number.text else { return nil }
        return Evidence(.secondFactor, at: provedAt, secondFactor: .init(kind: "phone", enrollment: factor.id))
    }
}
