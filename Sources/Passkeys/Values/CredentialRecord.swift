/// What is stored of a passkey (WebAuthn §4, credential record).
package struct CredentialRecord: Sendable, Equatable {
    package let id: CredentialID
    package let publicKey: COSEKey
    /// 0 for an authenticator without a counter.
    package var signCount: UInt32
    /// Whether the authenticator has ever verified the user, by a PIN or a biometric.
    package var hasVerifiedUser: Bool
    /// Whether the passkey can be synchronized; never changes.
    package let isBackupEligible: Bool
    package var isBackedUp: Bool
    /// As the client named them: `internal`, `hybrid`, `usb`.
    package let transports: [String]
    package let aaguid: AAGUID
    package let attestation: Attestation

    package init(
        id: CredentialID,
        publicKey: COSEKey,
        signCount: UInt32,
        hasVerifiedUser: Bool,
        isBackupEligible: Bool,
        isBackedUp: Bool,
        transports: [String],
        aaguid: AAGUID,
        attestation: Attestation
    ) {
        self.id = id
        self.publicKey = publicKey
        self.signCount = signCount
        self.hasVerifiedUser = hasVerifiedUser
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.transports = transports
        self.aaguid = aaguid
        self.attestation = attestation
    }
}
