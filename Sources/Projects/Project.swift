package import Secrets

/// An app's project: accounts, providers and settings of one project never meet those of another.
///
/// A class, because every call carries one from hand to hand: its many settings are counted once.
package final class Project: Sendable {
    package let id: ProjectID
    package let number: ProjectNumber
    package let settings: ProjectSettings
    /// The signer key of the project's password hashes (Firebase's modified scrypt), 64 bytes, base64.
    package let passwordSignerKey: Secret
    /// By their ids.
    package let tenants: [TenantID: Tenant]

    package init(
        id: ProjectID,
        number: ProjectNumber,
        settings: ProjectSettings,
        passwordSignerKey: Secret,
        tenants: [TenantConfiguration] = []
    ) {
        self.id = id
        self.number = number
        self.settings = settings
        self.passwordSignerKey = passwordSignerKey
        self.tenants = Dictionary(
            tenants.map { configuration in
                let project = Project(
                    id: id,
                    number: number,
                    settings: settings.inTenant(configuration.settings),
                    passwordSignerKey: passwordSignerKey
                )
                return (configuration.id, Tenant(configuration: configuration, project: project))
            }
        ) { first, _ in first }
    }

    /// What people know the app as.
    package var appName: String { settings.mail.appName ?? id.rawValue }
}
