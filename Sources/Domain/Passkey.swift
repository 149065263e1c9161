package import struct Foundation.Date

/// A passkey of an account: what WebAuthn §4 calls a credential record, with its name and times.
package struct Passkey: Sendable, Hashable, Codable {
    /// The credential ID in base64url without padding, which is the only stored spelling.
    package var id: String
    /// What the authenticator returns with each use.
    ///
    /// It belongs to the account that enrolled the passkey, and stays the same when a merge moves the passkey.
    package var userHandle: [UInt8]
    /// COSE, in canonical CBOR.
    package var publicKey: [UInt8]
    /// The highest value of the signature counter; 0 for an authenticator without one.
    package var signCount: UInt32
    /// Whether the authenticator has ever verified the user, by a PIN or a biometric.
    package var hasVerifiedUser: Bool
    /// Whether the passkey can be synchronized; never changes.
    package var isBackupEligible: Bool
    package var isBackedUp: Bool
    /// As the client named them: `internal`, `hybrid`, `usb`.
    package var transports: [String]
    /// The authenticator's model, 16 bytes.
    package var aaguid: [UInt8]
    /// `none`, `self`, `certified` or `unverified`.
    package var attestation: String
    /// The user's name for it.
    package var name: String?
    package var enrolledAt: Date
    /// The last sign-in with it, at most a day old.
    package var lastUsedAt: Date?

    package init(
        id: String,
        userHandle: [UInt8],
        publicKey: [UInt8],
        signCount: UInt32,
        hasVerifiedUser: Bool,
        isBackupEligible: Bool,
        isBackedUp: Bool,
        transports: [String],
        aaguid: [UInt8],
        attestation: String,
        name: String?,
        enrolledAt: Date,
        lastUsedAt: Date? = nil
    ) {
        self.id = id
        self.userHandle = userHandle
        self.publicKey = publicKey
        self.signCount = signCount
        self.hasVerifiedUser = hasVerifiedUser
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.transports = transports
        self.aaguid = aaguid
        self.attestation = attestation
        self.name = name
        self.enrolledAt = enrolledAt
        self.lastUsedAt = lastUsedAt
    }

    /// The maximum for an account.
    package static let most = 10
}

extension [Passkey] {
    /// The name, with a number if one of them has it already: `Chrome on Linux 2`.
    package func newName(like name: String) -> String {
        let taken = Set(compactMap(\.name))
        guard taken.contains(name) else { return name }
        return (2...).lazy.map { "\(name) \($0)" }.first { !taken.contains($0) } ?? name
    }
}
