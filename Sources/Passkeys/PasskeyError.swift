/// Why a passkey is not registered or not accepted; the raw value is for logs and metrics.
package enum PasskeyError: String, Error, Sendable, CaseIterable {
    // What the client says
    case malformedClientData
    case wrongType
    case wrongChallenge
    case wrongOrigin
    case crossOrigin
    case wrongTopOrigin

    // What the authenticator says
    case malformedAttestationObject
    case malformedAuthenticatorData
    case missingCredential
    case wrongRelyingParty
    case userNotPresent
    case userNotVerified
    case invalidBackupState
    case changedBackupEligibility

    // The credential
    case malformedPublicKey
    case unsupportedAlgorithm
    case unacceptableCredentialID
    case credentialNotAllowed
    case wrongUserHandle
    case wrongSignature

    // The attestation
    case malformedAttestationStatement
    case unsupportedAttestationAlgorithm
    case wrongAttestationSignature
    case unacceptableAttestationCertificate
    case unacceptableAttestation
}

extension PasskeyError: CustomStringConvertible {
    /// The problem, and the step of WebAuthn Level 3 that found it.
    ///
    /// For the log: it quotes nothing from the response.
    package var description: String {
        switch self {
        case .malformedClientData: "clientDataJSON is malformed (§7.1 step 6, §7.2 step 9)"
        case .wrongType: "clientDataJSON is of another ceremony (§7.1 step 7, §7.2 step 10)"
        case .wrongChallenge: "the challenge is another request's (§7.1 step 8, §7.2 step 11)"
        case .wrongOrigin: "the origin is not expected (§7.1 step 9, §7.2 step 12)"
        case .crossOrigin: "the page is another site's frame (§7.1 step 10, §7.2 step 13)"
        case .wrongTopOrigin: "the page around the frame is not expected (§7.1 step 11, §7.2 step 14)"
        case .malformedAttestationObject: "attestationObject is malformed (§7.1 step 13)"
        case .malformedAuthenticatorData: "the authenticator data is malformed (§7.1 step 13, §7.2 step 7)"
        case .missingCredential: "attestationObject has no credential (§7.1 step 13)"
        case .wrongRelyingParty: "the RP ID is another one (§7.1 step 14, §7.2 step 15)"
        case .userNotPresent: "the user was not present (§7.1 step 15, §7.2 step 16)"
        case .userNotVerified: "the user was not verified (§7.1 step 16, §7.2 step 17)"
        case .invalidBackupState: "backed up but not backup eligible (§7.1 step 17, §7.2 step 18)"
        case .changedBackupEligibility: "the backup eligibility has changed (§7.2 step 19)"
        case .malformedPublicKey: "the public key is malformed (§7.1 step 20)"
        case .unsupportedAlgorithm: "the public key's algorithm is not supported (§7.1 step 20)"
        case .unacceptableCredentialID: "the credential ID is too long or another one (§7.1 step 25, §7.2 step 6)"
        case .credentialNotAllowed: "the request did not allow this credential (§7.2 step 5)"
        case .wrongUserHandle: "the user handle is another account's, or missing (§7.2 step 6)"
        case .wrongSignature: "the signature is wrong (§7.2 step 21)"
        case .malformedAttestationStatement: "the attestation statement is malformed (§7.1 step 22)"
        case .unsupportedAttestationAlgorithm: "the attestation's algorithm is not supported (§7.1 step 22)"
        case .wrongAttestationSignature: "the attestation's signature is wrong (§7.1 step 22)"
        case .unacceptableAttestationCertificate: "the attestation certificate breaks §8.2.1 (§7.1 step 22)"
        case .unacceptableAttestation: "the project does not accept this attestation (§7.1 step 24)"
        }
    }
}
