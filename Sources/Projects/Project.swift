package import Secrets

/// A project: its accounts, providers and settings are separate from those of other projects.
///
/// A class, because every call passes it around, and copying its many settings would be expensive.
package final class Project: Sendable {
    package let id: ProjectID
    package let number: ProjectNumber
    package let settings: ProjectSettings
    /// The signer key of the project's password hashes (Firebase's modified scrypt), 64 bytes, base64.
    package let passwordSignerKey: Secret
    /// By ID.
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

    /// The app's display name.
    package var appName: String { settings.mail.appName ?? id.rawValue }
}
