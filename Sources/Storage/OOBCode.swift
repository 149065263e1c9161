package import Delivery
package import Linking
import Secrets
package import Sessions
package import struct Foundation.Date

/// What a one-time code that travels by mail is good for, by its name on the wire (`requestType`).
package enum OOBCodeType: String, Sendable, Hashable, CaseIterable {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"
    case emailSignIn = "EMAIL_SIGNIN"
    case verifyAndChangeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case revertSecondFactor = "REVERT_SECOND_FACTOR_ADDITION"

    /// Seconds for which a code is good.
    package var lifetime: Double {
        switch self {
        case .passwordReset: 3_600
        case .emailSignIn: 6 * 3_600
        case .verifyEmail, .recoverEmail, .verifyAndChangeEmail, .revertSecondFactor: 3 * 86_400
        }
    }
}

/// A code that somebody shows, as it was stored.
package struct OOBCode: Sendable {
    package let type: OOBCodeType
    /// The account; for a sign-in code, the canonical address; for the code that takes a second factor away again,
    /// ``revertOwner(_:_:)``; for one that brings an address back, ``recoveryOwner(_:_:)``.
    package let owner: String
    /// The account's address when the code was made; in a sign-in code the one to which it went; in a recovery code the
    /// one that comes back.
    package let email: EmailAddress
    /// In a code that changes the address, what it becomes; in a recovery code, what it became.
    package let newEmail: EmailAddress?
    /// In a recovery code: the address had been verified.
    package let proved: Bool
    package let hash: [UInt8]
    package let createdAt: Date
    package let validUntil: Date
}

/// A code to store, with the mail that carries it.
package struct NewOOBCode: Sendable {
    package var type: OOBCodeType
    package var owner: String
    package var email: EmailAddress
    package var newEmail: EmailAddress?
    package var proved = false
    package var hash: [UInt8]
    /// The session that asks for it, whose end is its own; nil where the code outlives it.
    package var session: SessionID?
    /// Nil when an admin hands the code out.
    package var mail: Mail?
    /// Costs what a code costs, and is none: for addresses about which nothing may be told.
    package var isDecoy = false

    package init(type: OOBCodeType, owner: String, email: EmailAddress, hash: [UInt8]) {
        self.type = type
        self.owner = owner
        self.email = email
        self.hash = hash
    }
}

/// The code was used, replaced or voided meanwhile.
package struct SpentCode: Error, Sendable {
    package var code: OneTimeCode
}

extension OOBCode {
    /// The owner of the code that takes a second factor away again: each enrolment has its own.
    package static func revertOwner(_ account: AccountID, _ enrollment: String) -> String { "\(account)/\(enrollment)" }

    /// Nil for codes of other types.
    package var revertedFactor: (account: AccountID, enrollment: String)? {
        guard type == .revertSecondFactor, let slash = owner.lastIndex(of: "/") else { return nil }
        return (AccountID(String(owner[..<slash])), String(owner[owner.index(after: slash)...]))
    }

    /// The owner of the code that brings an address back: each address that was replaced has its own, so that a newer change
    /// takes nothing from an older one.
    package static func recoveryOwner(_ account: AccountID, _ address: EmailAddress) -> String {
        "\(account)/\(Base64URL.encode(SecureHash.sha256(address.canonical)))"
    }

    /// Characters that ``recoveryOwner(_:_:)`` adds to the account.
    static let recoverySuffix: Int32 = 44

    /// Whose address a code is about; of no meaning for a sign-in code.
    package var account: AccountID {
        if let reverted = revertedFactor { return reverted.account }
        let suffix = Int(Self.recoverySuffix)
        guard type == .recoverEmail, owner.count > suffix, owner.dropLast(suffix - 1).last == "/" else {
            return AccountID(owner)
        }
        return AccountID(String(owner.dropLast(suffix)))
    }
}
