package import Delivery
package import Domain
import Postgres
package import Projects
import Secrets
package import Sessions
package import struct Foundation.Date

/// The purpose of a one-time code sent by email, with its name on the wire (`requestType`).
package enum OOBCodeType: String, Sendable, Hashable, CaseIterable {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"
    case emailSignIn = "EMAIL_SIGNIN"
    case verifyAndChangeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case revertSecondFactor = "REVERT_SECOND_FACTOR_ADDITION"

    /// Whether a newer code leaves the older ones good.
    ///
    /// Digits count only for the client that asked for them, so a stranger's request must not end the user's. The link of a
    /// newer reset email is as good as the older one, which it ends as in Firebase.
    var keepsOlder: Bool { self == .emailSignIn }

    /// The email with its link.
    package var template: MailTemplate {
        switch self {
        case .passwordReset: .passwordReset
        case .verifyEmail: .verifyEmail
        case .recoverEmail: .recoverEmail
        case .emailSignIn: .signIn
        case .verifyAndChangeEmail: .verifyAndChangeEmail
        case .revertSecondFactor: .revertSecondFactor
        }
    }
}

/// A presented code, as it was stored.
package struct OOBCode: Sendable {
    package let type: OOBCodeType
    /// The account's ID; for a sign-in code, the canonical email; for a code that removes a second factor or a passkey,
    /// ``revertOwner(_:_:)``; for a recovery code, ``recoveryOwner(_:_:)``.
    package let owner: String
    /// The account's email when the code was created; in a sign-in code, the recipient; in a recovery code, the email
    /// to restore.
    package let email: EmailAddress
    /// In a code that changes the email, the new one; in a recovery code, the one that replaced it.
    package let newEmail: EmailAddress?
    /// In a recovery code: whether the email was verified.
    package let proved: Bool
    package let hash: [UInt8]
    package let createdAt: Date
    package let validUntil: Date
}

/// A code to store, with the email that carries it.
package struct NewOOBCode: Sendable {
    package var type: OOBCodeType
    package var owner: String
    package var email: EmailAddress
    package var newEmail: EmailAddress?
    package var proved = false
    package var hash: [UInt8]
    /// In seconds.
    package var lifetime: Int64
    /// The session that requested it, whose end also ends the code; nil if the code outlives it.
    package var session: SessionID?
    /// The digits in the email; nil for the link alone.
    package var shortCode: NewShortCode?
    /// Nil if an admin gets the code.
    package var mail: Mail?
    /// How long the email waits for its delivery, in seconds; nil for as long as the code is valid.
    package var mailLifetime: Double?
    /// Costs as much time as a real code but is none, for addresses that must not be revealed.
    ///
    /// That of a change of the email replaces the account's code, as a real one does.
    package var isDecoy = false

    package init(type: OOBCodeType, owner: String, email: EmailAddress, hash: [UInt8]) {
        self.type = type
        self.owner = owner
        self.email = email
        self.hash = hash
        lifetime = type.template.standardLinkLifetime
    }
}

/// The code was used, replaced or voided in the meantime.
package struct SpentCode: Error, Sendable {
    package var code: OneTimeCode
}

extension OOBCode {
    /// The owner of the code that removes a second factor or a passkey: each enrollment has its own.
    ///
    /// - Parameter enrollment: the ID of the second factor, or of the passkey.
    package static func revertOwner(_ account: AccountID, _ enrollment: String) -> String { "\(account)/\(enrollment)" }

    /// Nil for other types of code.
    package var revertedFactor: (account: AccountID, enrollment: String)? {
        guard type == .revertSecondFactor, let slash = owner.lastIndex(of: "/") else { return nil }
        return (AccountID(String(owner[..<slash])), String(owner[owner.index(after: slash)...]))
    }

    /// The owner of the code that restores an email: each replaced email has its own, so that a newer change does not
    /// remove an older code.
    package static func recoveryOwner(_ account: AccountID, _ address: EmailAddress) -> String {
        "\(account)/\(Base64URL.encode(SecureHash.sha256(address.canonical)))"
    }

    /// The number of characters that ``recoveryOwner(_:_:)`` adds to the account ID.
    private static let recoverySuffix = 44

    /// A condition on codes that restore emails of accounts, in the words of the index `oob_codes_recovery_idx`.
    static func restores(_ accounts: [String]) -> SQL {
        "type = 'RECOVER_EMAIL' AND left(owner, -44) = ANY (\(accounts)::text[])"
    }

    /// The account that a code belongs to; meaningless for a sign-in code.
    package var account: AccountID {
        if let reverted = revertedFactor { return reverted.account }
        let suffix = Self.recoverySuffix
        guard type == .recoverEmail, owner.count > suffix, owner.dropLast(suffix - 1).last == "/" else {
            return AccountID(owner)
        }
        return AccountID(String(owner.dropLast(suffix)))
    }
}
