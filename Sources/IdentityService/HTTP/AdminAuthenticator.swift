package import Projects
package import Secrets

/// Finds the admin credential of a bearer token.
///
/// `identity serve` asks the database; `identity dev` also accepts `Bearer owner`.
package protocol AdminAuthenticator: Sendable {
    /// - Returns: nil for an unknown token.
    ///
    /// The caller checks whether a known credential is disabled, expired or for another
    ///   project.
    /// - Throws: if it cannot decide; the request is then refused.
    func credential(for token: Secret) async throws -> AdminCredential?
}
