package import Secrets

/// A project, or one of its tenants with the settings that hold there: its accounts, providers and settings are separate
/// from those of others.
///
/// A class, because every call passes it around, and copying its many settings would be expensive.
package final class Project: Sendable {
    package let id: ProjectID
    package let number: ProjectNumber
    /// Whose accounts these are: ``TenantID/none`` for the project's own.
    package let tenant: TenantID
    package let settings: ProjectSettings
    /// The signer key of the project's password hashes (Firebase's modified scrypt), 64 bytes, base64.
    package let passwordSignerKey: Secret
    /// By ID; a tenant has none.
    package let tenants: [TenantID: Tenant]

    package init(
        id: ProjectID,
        number: ProjectNumber,
        tenant: TenantID = .none,
        settings: ProjectSettings,
        passwordSignerKey: Secret,
        tenants: [TenantConfiguration] = []
    ) {
        self.id = id
        self.number = number
        self.tenant = tenant
        self.settings = settings
        self.passwordSignerKey = passwordSignerKey
        self.tenants = Dictionary(
            tenants.map { configuration in
                let project = Project(
                    id: id,
                    number: number,
                    tenant: configuration.id,
                    settings: settings.inTenant(configuration.settings),
                    passwordSignerKey: passwordSignerKey
                )
                return (configuration.id, Tenant(configuration: configuration, project: project))
            }
        ) { first, _ in first }
    }

    package var scope: Scope { Scope(project: id, tenant: tenant) }

    /// The app's display name.
    package var appName: String { settings.mail.appName ?? id.rawValue }
}
