package import Linking
package import Projects

extension FederationService {
    /// When an email from the provider counts as verified.
    ///
    /// A rule in the configuration takes precedence over both tables; an unreadable configuration trusts nothing.
    ///
    /// - Parameter strict: the project setting ``Projects/ProjectSettings/strictEmailTrust``.
    package func emailTrust(
        for id: ProviderID,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        guard let configuration else { return EmailTrustRule.standard(for: id, strict: strict).value }
        do throws(InvalidDefinition) {
            let definition = try definitions.definition(for: configuration)
            return (definition.emailTrust ?? .standard(for: id, strict: strict)).value
        } catch {
            return .never
        }
    }

    /// The trust for one credential: as above, or the provider's claim if the credential requires it.
    package func emailTrust(
        for credential: FederatedCredential,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        if credential.believesEmailClaim { return .claim }
        return emailTrust(for: credential.identity.provider, configuration: configuration, strict: strict)
    }
}
