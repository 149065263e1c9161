package import Accounts
package import Storage

/// What the routes work with.
package struct ServiceParts: Sendable {
    package var accounts: AccountsService
    package var configuration: ConfigurationStore
    package var readiness: @Sendable () async -> [ReadinessCheck]
    /// Whether providers may have http URLs on loopback: `identity dev`.
    package var allowsLoopbackProviders: Bool

    package init(
        accounts: AccountsService,
        configuration: ConfigurationStore,
        allowsLoopbackProviders: Bool = false,
        readiness: @escaping @Sendable () async -> [ReadinessCheck]
    ) {
        self.accounts = accounts
        self.configuration = configuration
        self.allowsLoopbackProviders = allowsLoopbackProviders
        self.readiness = readiness
    }
}

extension RouteTable {
    /// The whole API.
    ///
    /// - Parameter additional: routes of `identity dev`; they win over those of the same method and path.
    package init(_ parts: ServiceParts, additional: [Route] = []) {
        let admin = AdminAccountRoutes(accounts: parts.accounts.admin)
        let configuration = parts.configuration
        self.init(
            additional
                + ClientAccountRoutes(accounts: parts.accounts, admin: admin).routes
                + TokenRoutes(accounts: parts.accounts).routes
                + admin.routes
                + ProjectRoutes().routes
                + SettingsRoutes(configuration: configuration).routes
                + ProviderRoutes(
                    configuration: configuration,
                    allowsLoopback: parts.allowsLoopbackProviders
                ).routes
                + KeyRoutes(signingKeys: { configuration.signingKeys }).routes
                + HealthRoutes(readiness: parts.readiness).routes
                + UnbuiltRoutes.routes
        )
    }
}
