package import Projects
package import Secrets

/// Tells whose admin credential a bearer token is.
///
/// `identity serve` asks the database; `identity dev` puts `Bearer owner` in front, which exists nowhere else.
package protocol AdminAuthenticator: Sendable {
    /// - Returns: nil for a token that stands for nothing. Whether a known credential is disabled, expired or of another
    ///   project is checked by the caller.
    /// - Throws: when it cannot tell; the request is then refused.
    func credential(for token: Secret) async throws -> AdminCredential?
}
