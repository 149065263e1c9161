package import Linking
package import Projects

extension FederationService {
    /// Starts a sign-in at the provider: the caller stores the flow and sends the browser to the URL.
    ///
    /// - Throws: ``FederationError/customParameterNotAllowed(name:)``, ``FederationError/invalidRedirectURI``,
    ///   ``FederationError/providerDisabled``, ``FederationError/misconfigured(_:)``,
    ///   ``FederationError/issuerUnreachable``.
    package func authorizationRequest(
        for configuration: ProviderConfiguration,
        _ options: AuthorizationOptions
    ) async throws(FederationError) -> AuthorizationRequest {
        throw .issuerUnreachable
    }

    /// Finishes a sign-in: checks the callback against the flow, exchanges the code, verifies what comes back.
    ///
    /// The caller has found the flow by the callback's ``ProviderCallback/state``, has consumed it, and has compared the
    /// client's `sessionId`. The code is sent to the provider once at most.
    package func redeem(
        _ callback: ProviderCallback,
        flow: AuthorizationFlow,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> FederatedCredential {
        throw .issuerUnreachable
    }

    /// Verifies tokens that an app got from the provider by itself.
    ///
    /// - Parameter configuration: nil when the project has none for `id`: then only a verifier of the list can answer,
    ///   else ``FederationError/providerNotFound``.
    package func verify(
        _ credential: DirectCredential,
        id: ProviderID,
        with configuration: ProviderConfiguration?
    ) async throws(FederationError) -> FederatedCredential {
        throw .issuerUnreachable
    }

    /// When an address that the provider asserts counts as proven.
    ///
    /// - Parameter strict: the project setting ``Projects/ProjectSettings/strictEmailTrust``. A rule that the
    ///   configuration states itself wins over both tables.
    package func emailTrust(
        for id: ProviderID,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        .never
    }

    /// The trust for one credential: as above, or the claim itself when the credential says so.
    package func emailTrust(
        for credential: FederatedCredential,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        if credential.believesEmailClaim { return .claim }
        return emailTrust(for: credential.identity.provider, configuration: configuration, strict: strict)
    }
}

extension ProviderDefinition {
    /// Checks what an admin entered, without any call to the provider.
    ///
    /// - Parameter allowsLoopback: whether http URLs on loopback are fine.
    /// - Throws: ``InvalidDefinition``, whose text is meant for the admin.
    package static func validate(
        _ configuration: ProviderConfiguration,
        allowsLoopback: Bool
    ) throws(InvalidDefinition) {
    }

    /// Whether an id may be configured: built in, `oidc.` or `oauth.` and 1 to 64 of `[A-Za-z0-9_-]`.
    package static func isKnown(_ id: ProviderID) -> Bool { false }
}
