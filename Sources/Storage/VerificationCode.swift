package import Domain
package import Secrets
package import struct Foundation.Date

/// The purpose of an SMS code.
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
    /// The account of the second factor; nil for a sign-in.
    package var account: AccountID?
    package var phoneNumber: PhoneNumber
    /// A secret known only to the client that requested the code.
    package var session: Secret
    package var code: Secret
    /// BCP 47.
    package var language: String?
    /// Of an Android app; see ``Delivery/SMS/appHash``.
    package var appHash: String?
    /// Of a page; see ``Delivery/SMS/host``.
    package var host: String?
    /// Whether an SMS is sent: a test number gets none.
    package var sends = true
    /// Whether the SMS message in the outbox contains its session, as in `identity dev`.
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

    /// Whose code it is.
    var owner: String { account?.rawValue ?? phoneNumber.text }
}

/// A code attempt, after it was counted.
package struct TriedCode: Sendable {
    package let phoneNumber: PhoneNumber
    /// The hash of its session, which identifies it.
    package let hash: [UInt8]
    /// Whether the attempted code is right.
    package let isRight: Bool
    package let validUntil: Date
    /// Attempts so far, including this one; at most one more than allowed.
    package let attempts: Int
}
