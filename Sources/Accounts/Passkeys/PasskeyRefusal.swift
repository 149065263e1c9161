/// Why a passkey was not enrolled or not accepted: as the code of the protocol.
///
/// What the verification found is only logged: the client could not act on it, and an attacker could.
package enum PasskeyRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// The project or tenant has no `passkeyConfig`.
    case notEnabled = "PASSKEY_NOT_ENABLED"
    case missingResponse = "MISSING_AUTHENTICATOR_RESPONSE"
    /// Missing, longer than 1023 bytes, or `id` and `rawId` differ.
    case invalidCredentialID = "INVALID_CREDENTIAL_ID"
    /// Malformed, or refused by a step of the verification.
    case invalidResponse = "INVALID_AUTHENTICATOR_RESPONSE"
    /// The challenge is unknown, older than five minutes, used, or of another account, session, project or tenant.
    case challengeTimeout = "PASSKEY_CHALLENGE_TIMEOUT"
    /// No account of the project or tenant has the passkey.
    case enrollmentNotFound = "PASSKEY_ENROLLMENT_NOT_FOUND"
    /// An account has the passkey.
    case exists = "PASSKEY_EXISTS"
    case tooMany = "PASSKEY_LIMIT_EXCEEDED"
}
