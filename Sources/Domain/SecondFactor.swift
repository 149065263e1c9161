package import struct Foundation.Date

/// A second factor of an account: a code from an authenticator app, or by SMS.
package struct SecondFactor: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Codes go to this number, E.164.
        case phone(String)
        /// Codes come from an app that shares a secret (RFC 6238): the sealed secret, and the time step of the last
        /// accepted code.
        ///
        /// Codes of that step or earlier are refused.
        case totp(sealedSecret: [UInt8], lastStep: Int64)
    }

    /// A UUID, or an ID that an admin chose.
    package var id: String
    package var kind: Kind
    package var displayName: String?
    package var enrolledAt: Date

    package init(id: String, kind: Kind, displayName: String?, enrolledAt: Date) {
        self.id = id
        self.kind = kind
        self.displayName = displayName
        self.enrolledAt = enrolledAt
    }

    /// The maximum for an account.
    package static let mostPhones = 5
    package static let mostApps = 1

    package var phoneNumber: String? {
        if case .phone(let number) = kind { number } else { nil }
    }

    package var isTOTP: Bool { phoneNumber == nil }
}
