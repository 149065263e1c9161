/// Why a passkey was not enrolled or not accepted.
///
/// What the verification found is only logged: the client could not act on it, and an attacker could.
package enum PasskeyRefusal: Error, Sendable, Hashable, CaseIterable {
    /// The project or tenant has no `passkeyConfig`.
    case notEnabled
    case missingResponse
    /// Missing, longer than 1023 bytes, or `id` and `rawId` differ.
    case invalidCredentialID
    /// Malformed, or refused by a step of the verification.
    case invalidResponse
    /// The challenge is unknown, older than five minutes, used, or of another account, session, project or tenant.
    case challengeTimeout
    /// No account of the project or tenant has the passkey.
    case enrollmentNotFound
    /// An account has the passkey.
    case exists
    case tooMany
}
