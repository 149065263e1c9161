package import Linking
package import Projects

/// A verifier of direct credentials that runs before the definitions.
///
/// `identity dev` passes one that accepts fake credentials; `identity serve` passes none.
package protocol CredentialVerifier: Sendable {
    /// - Parameter provider: nil if the project has no configuration for `id`.
    /// - Returns: nil if this verifier does not handle the credential.
    func verify(
        _ credential: DirectCredential,
        provider: ProviderConfiguration?,
        id: ProviderID
    ) async throws(FederationError) -> FederatedCredential?
}
