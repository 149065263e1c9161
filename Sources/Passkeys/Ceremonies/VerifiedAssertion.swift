/// A use of a passkey that was verified.
package struct VerifiedAssertion: Sendable, Equatable {
    /// What the signature counter says (WebAuthn §6.1.1).
    package enum Counter: Sendable, Equatable {
        /// It has increased, or the authenticator has none.
        case plausible
        /// It has not: a copy of the passkey may exist. The caller decides whether to refuse.
        case cloneSuspected
    }

    /// With the counter, the backup state and the user verification of this use: what is to be stored.
    package let record: CredentialRecord
    /// Whether the authenticator verified the user this time, which counts as a second factor.
    package let isUserVerified: Bool
    package let counter: Counter
}
