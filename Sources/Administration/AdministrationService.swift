package import Projects
package import Secrets
package import Storage

/// The use cases of configuration, which REST, the console and the command line share.
package struct AdministrationService: Sendable {
    package let changeSettings: ChangeSettings
    package let changeProvider: ChangeProvider
    package let projects: ManageProjects
    package let apps: ManageApps
    package let tenants: ManageTenants
    package let apiKeys: ManageAPIKeys
    package let serviceAccounts: ManageServiceAccounts
    package let adminKeys: ManageAdminKeys
    package let admins: ManageAdmins

    /// - Parameter allowsLoopback: whether providers may have http URLs on loopback.
    package init(
        stores: Stores,
        random: RandomSource = .system,
        allowsLoopback: Bool = false,
        deployment: Deployment = Deployment(publicURL: nil)
    ) {
        let configuration = stores.configuration
        changeSettings = ChangeSettings(configuration: configuration, deployment: deployment)
        changeProvider = ChangeProvider(
            configuration: configuration,
            outbox: stores.outbox,
            allowsLoopback: allowsLoopback
        )
        projects = ManageProjects(configuration: configuration)
        apps = ManageApps(configuration: configuration, random: random)
        tenants = ManageTenants(configuration: configuration, random: random)
        apiKeys = ManageAPIKeys(configuration: configuration)
        serviceAccounts = ManageServiceAccounts(configuration: configuration)
        adminKeys = ManageAdminKeys(configuration: configuration)
        admins = ManageAdmins(store: stores.console, configuration: configuration)
    }
}
