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
    package let serviceAccounts: ManageCredentials<ServiceAccountKey>
    package let workloads: ManageCredentials<Workload>
    package let adminKeys: ManageCredentials<AdminCredential>
    package let admins: ManageAdmins
    package let oauthClients: ManageOAuthClients

    /// - Parameters:
    ///   - allowsLoopback: whether providers and workloads' issuers may have http URLs on loopback.
    ///   - reading: a small file at a URL, for a project; nil for anything but a success.
    ///   - allowsAnyTenantName: whether a tenant's display name may be any line of text, as in Firebase's emulator.
    package init(
        stores: Stores,
        random: RandomSource = .system,
        allowsLoopback: Bool = false,
        allowsAnyTenantName: Bool = false,
        deployment: Deployment = Deployment(publicURL: nil),
        limits: DeploymentLimits = DeploymentLimits(),
        reading: @escaping @Sendable (String, ProjectID) async throws -> [UInt8]? = { _, _ in nil }
    ) {
        let configuration = stores.configuration
        changeSettings = ChangeSettings(
            configuration: configuration,
            deployment: deployment,
            limits: limits,
            read: reading
        )
        changeProvider = ChangeProvider(
            configuration: configuration,
            outbox: stores.outbox,
            allowsLoopback: allowsLoopback
        )
        projects = ManageProjects(configuration: configuration)
        apps = ManageApps(configuration: configuration, random: random)
        tenants = ManageTenants(
            configuration: configuration,
            random: random,
            allowsAnyName: allowsAnyTenantName
        )
        apiKeys = ManageAPIKeys(configuration: configuration)
        serviceAccounts = ManageCredentials(configuration: configuration)
        workloads = ManageCredentials(configuration: configuration, allowsLoopback: allowsLoopback)
        adminKeys = ManageCredentials(configuration: configuration)
        oauthClients = ManageOAuthClients(store: stores.oauthClients, random: random)
        admins = ManageAdmins(store: stores.console, configuration: configuration)
    }
}
