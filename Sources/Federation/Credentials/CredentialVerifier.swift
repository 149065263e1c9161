package import Linking
package import Projects

/// A way to verify a direct credential that is asked before the definitions are.
///
/// `identity dev` passes one that takes fake credentials; `identity serve` passes none.
package protocol CredentialVerifier: Sendable {
    /// - Parameter provider: nil when the project has no configuration for `id`.
    /// - Returns: nil when the credential is none of this verifier's business.
    func verify(
        _ credential: DirectCredential,
        provider: ProviderConfiguration?,
        id: ProviderID
    ) async throws(FederationError) -> FederatedCredential?
}
