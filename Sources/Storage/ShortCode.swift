package import Secrets
package import struct Foundation.Date
import Projects

/// The six digits beside the link of an email, for a user who reads it on another device.
///
/// They are worth nothing without the session of the client that requested the email (threats.md, T-E21).
package struct NewShortCode: Sendable {
    /// Attempts allowed for a code.
    package static let attempts = 5

    package var digits: Secret
    /// What the client must present with the digits: a random handle, or the ID of its session.
    package var session: Secret

    package init(digits: Secret, session: Secret) {
        self.digits = digits
        self.session = session
    }
}

/// An attempt at a short code, after it was counted.
package struct TriedShortCode: Sendable {
    /// The hash of the link's code, which identifies the row.
    let hash: [UInt8]
    /// Whether the digits are right.
    package let isRight: Bool
    package let validUntil: Date
    /// Attempts so far, including this one; at most one more than allowed.
    package let attempts: Int
}

/// How codes of six digits are stored: a plain hash would reveal them to a reader of the database.
extension KeyRing {
    /// Bound to its session: the same digits in another session have another hash.
    ///
    /// - Parameter session: the hash of the session.
    func hash(of digits: Secret, _ session: [UInt8], in table: String, _ scope: Scope, key: Int = 0) -> [UInt8] {
        let place = "\(table)/\(scope.project)/\(scope.tenant.rawValue)/"
        return authenticationCode(of: Array(place.utf8) + session + Array(digits.reveal().utf8), key: key)
    }

    /// Checks with every key of the ring that may have stored the digits.
    func isHash(_ stored: [UInt8], of digits: Secret, _ session: [UInt8], in table: String, _ scope: Scope) -> Bool {
        (0..<count).contains { key in
            ConstantTime.equal(stored, hash(of: digits, session, in: table, scope, key: key))
        }
    }
}
