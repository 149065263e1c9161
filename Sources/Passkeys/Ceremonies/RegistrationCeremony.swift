/// Registers a passkey: what was asked for, and the verification of the response (WebAuthn Level 3 §7.1).
///
/// Steps 1 to 6 are the client's and the parsing of its response. Steps 26 and 29, the credential that is known already
/// and the storage, are the caller's.
package struct RegistrationCeremony: Sendable {
    package let relyingParty: RelyingParty
    package let challenge: Challenge
    package let algorithms: [COSEAlgorithm]
    package let userVerification: UserVerification
    /// Whether the browser created the passkey without asking, after a sign-in with a password.
    package let isConditional: Bool
    package let attestation: AttestationPolicy

    package init(
        relyingParty: RelyingParty,
        challenge: Challenge,
        algorithms: [COSEAlgorithm] = COSEAlgorithm.allCases,
        userVerification: UserVerification = .preferred,
        isConditional: Bool = false,
        attestation: AttestationPolicy = AttestationPolicy()
    ) {
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.algorithms = algorithms
        self.userVerification = userVerification
        self.isConditional = isConditional
        self.attestation = attestation
    }

    /// - Parameter now: epoch seconds, for the dates of attestation certificates.
    /// - Returns: what is to be stored.
    package func verify(
        _ response: RegistrationResponse,
        now: Int64
    ) async throws(PasskeyError) -> CredentialRecord {
        // Steps 7–11
        try relyingParty.verify(response.clientData, type: "webauthn.create", challenge: challenge)
        // Steps 12–13
        let object = try AttestationObject(response.attestationObject)
        let data = object.authenticatorData
        guard let credential = data.credential else { throw .missingCredential }
        // Step 14
        guard data.relyingPartyHash == relyingParty.idHash else { throw .wrongRelyingParty }
        // Step 15
        guard isConditional || data.flags.contains(.userPresent) else { throw .userNotPresent }
        // Step 16
        guard userVerification != .required || data.flags.contains(.userVerified) else { throw .userNotVerified }
        // Step 17; steps 18–19 are policies that we do not have.
        guard data.flags.haveValidBackupState else { throw .invalidBackupState }
        // Step 20
        let key = try COSEKey(credential.publicKey)
        guard algorithms.contains(key.algorithm) else { throw .unsupportedAlgorithm }
        // Steps 21–22
        let kind: Attestation
        switch object.format {
        case "none":
            guard object.statement == .map([]) else { throw .malformedAttestationStatement }
            kind = .none
        case "packed":
            // Step 23 chooses the roots.
            kind = try await PackedAttestation(object.statement).verify(
                data,
                of: credential,
                key: key,
                hash: response.clientData.hash,
                roots: attestation.roots,
                now: now
            )
        default: kind = .unverified
        }
        // Step 24
        guard attestation.accepted.contains(kind) else { throw .unacceptableAttestation }
        // Step 25, and the client means the same credential.
        guard let id = CredentialID(bytes: credential.id), id == response.id else { throw .unacceptableCredentialID }
        // Step 27; step 28: no extension was asked for, and outputs that come nevertheless are ignored.
        return CredentialRecord(
            id: id,
            publicKey: key,
            signCount: data.signCount,
            hasVerifiedUser: data.flags.contains(.userVerified),
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            transports: response.transports,
            aaguid: credential.aaguid,
            attestation: kind
        )
    }
}
