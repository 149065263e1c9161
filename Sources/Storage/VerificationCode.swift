package import Linking
package import Secrets
package import struct Foundation.Date

/// What a code of an SMS is good for.
package enum VerificationPurpose: String, Sendable, Hashable, CaseIterable {
    case signIn
    /// The number becomes a second factor of an account.
    case enrollment
    /// The number is the second factor of a sign-in.
    case secondFactor
}

/// A code to store, with the SMS that carries it.
package struct NewVerificationCode: Sendable {
    package var purpose: VerificationPurpose
    /// Whose second factor it is about; nil for a sign-in.
    package var account: AccountID?
    package var phoneNumber: PhoneNumber
    /// What only the client that asked for the code knows.
    package var session: Secret
    package var code: Secret
    /// BCP 47.
    package var language: String?
    /// Of an Android app, see ``Delivery/SMS/appHash``.
    package var appHash: String?
    /// Whether an SMS goes out: a test number gets none.
    package var sends = true
    /// Whether the SMS tells its session to whoever reads the outbox, as `identity dev` does.
    package var showsSession = false

    package init(
        purpose: VerificationPurpose,
        account: AccountID?,
        phoneNumber: PhoneNumber,
        session: Secret,
        code: Secret
    ) {
        self.purpose = purpose
        self.account = account
        self.phoneNumber = phoneNumber
        self.session = session
        self.code = code
    }

    /// Who has one code of a purpose.
    var owner: String { account?.rawValue ?? phoneNumber.text }
}

/// A code that somebody tried, after the try was counted.
package struct TriedCode: Sendable {
    package let phoneNumber: PhoneNumber
    /// The hash of its session, which names it.
    package let hash: [UInt8]
    /// What was tried is the code.
    package let isRight: Bool
    package let validUntil: Date
    /// Tries so far, this one included; one more than are allowed at most.
    package let attempts: Int
}
