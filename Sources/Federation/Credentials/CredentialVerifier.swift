package import Domain

/// A verifier of direct credentials that runs before the definitions.
///
/// `identity dev` passes one that accepts fake credentials; `identity serve` passes none.
package protocol CredentialVerifier: Sendable {
    /// - Parameter definition: the project's, or the built-in one of `id`; nil for an ID that has neither.
    /// - Returns: nil if this verifier does not handle the credential.
    func verify(
        _ credential: DirectCredential,
        definition: ProviderDefinition?,
        id: ProviderID
    ) async throws(FederationError) -> FederatedCredential?
}
