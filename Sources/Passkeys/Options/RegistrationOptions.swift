/// What the browser is asked for to create a passkey (WebAuthn §5.4), before it is JSON.
package struct RegistrationOptions: Sendable, Equatable {
    package struct User: Sendable, Equatable {
        /// 1 to 64 bytes that identify the account, and do not contain an email address.
        package let handle: [UInt8]
        package let name: String
        package let displayName: String

        package init(handle: [UInt8], name: String, displayName: String) {
            self.handle = handle
            self.name = name
            self.displayName = displayName
        }
    }

    /// Whether the client is asked for a statement about the authenticator.
    package enum Conveyance: String, Sendable, Hashable, Codable, CaseIterable {
        case none, direct
    }

    package let relyingPartyID: String
    package let relyingPartyName: String
    package let user: User
    package let challenge: Challenge
    /// The preferred one first.
    package let algorithms: [COSEAlgorithm]
    /// The credentials of the account, none of which is to be replaced.
    package let excluded: [CredentialDescriptor]
    package let userVerification: UserVerification
    package let attestation: Conveyance
    package let timeout: Duration

    package init(
        relyingPartyID: String,
        relyingPartyName: String,
        user: User,
        challenge: Challenge,
        algorithms: [COSEAlgorithm] = COSEAlgorithm.allCases,
        excluded: [CredentialDescriptor] = [],
        userVerification: UserVerification = .preferred,
        attestation: Conveyance = .none,
        timeout: Duration = .seconds(300)
    ) {
        self.relyingPartyID = relyingPartyID
        self.relyingPartyName = relyingPartyName
        self.user = user
        self.challenge = challenge
        self.algorithms = algorithms
        self.excluded = excluded
        self.userVerification = userVerification
        self.attestation = attestation
        self.timeout = timeout
    }
}
