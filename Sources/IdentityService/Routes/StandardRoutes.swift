import Accounts
import Projects
import Storage

extension RouteTable {
    /// What the pages need in addition to the use cases.
    struct Pages {
        var address: OwnPages
        var projectForKey: @Sendable (APIKey) -> Project?
        var development: Bool
        var operations: ConsoleOperations
    }

    /// The routes of the whole API.
    ///
    /// - Parameters:
    ///   - allowsLoopbackProviders: whether providers may have http URLs on loopback.
    ///   - additional: take precedence over routes with the same method and path.
    static func api(
        accounts: AccountsService,
        configuration: ConfigurationStore,
        pages: Pages,
        allowsLoopbackProviders: Bool,
        publicURL: String?,
        ownURL: @escaping @Sendable () -> String?,
        projectForKey: @escaping @Sendable (APIKey) -> Project?,
        projectNamed: @escaping @Sendable (String) async throws -> Project?,
        additional: [Route]
    ) -> [Route] {
        let admin = AdminAccountRoutes(
            accounts: accounts.admin,
            providerTokens: accounts.providerToken,
            explanations: accounts.explainSignIn,
            deletions: accounts.deleteAccounts
        )
        let signInPages = SignInPageRoutes(
            accounts: accounts,
            projectForKey: pages.projectForKey,
            ownAddress: pages.address
        )
        let providers = ProviderRoutes(
            configuration: configuration,
            providerTokens: accounts.providerToken,
            allowsLoopback: allowsLoopbackProviders
        )
        return additional
            + ClientAccountRoutes(accounts: accounts, admin: admin).routes
            + OOBCodeRoutes(accounts: accounts).routes
            + ActionPageRoutes(accounts: accounts, projectForKey: projectForKey).routes
            + SecondFactorRoutes(accounts: accounts).routes
            + PhoneRoutes(accounts: accounts).routes
            + TokenRoutes(accounts: accounts).routes
            + AccessTokenRoutes(accounts: accounts, ownAddress: pages.address).routes
            + ProviderGrantRoutes(accounts: accounts).routes
            + NotificationRoutes(accounts: accounts, projectNamed: projectNamed, publicURL: publicURL).routes
            + admin.routes
            + UploadAccountsRoute(importAccounts: accounts.importAccounts).routes
            + QueryAccountsRoutes(
                queryAccounts: accounts.queryAccounts,
                countProviders: accounts.countProviders
            ).routes
            + MergeAccountsRoutes(mergeAccounts: accounts.mergeAccounts).routes
            + DownloadAccountsRoute(admin: admin).routes
            + RevocationRoutes(listRevocations: accounts.listRevocations).routes
            + AuditRoutes(listAuditEntries: accounts.listAuditEntries).routes
            + ProjectRoutes().routes
            + SettingsRoutes(configuration: configuration, ownURL: ownURL).routes
            + providers.routes
            + AppRoutes(configuration: configuration).routes
            + TenantRoutes(configuration: configuration).routes
            + signInPages.routes
            + HandlerRoutes(
                accounts: accounts,
                projectForKey: pages.projectForKey,
                ownAddress: pages.address,
                signInPages: signInPages
            ).routes
            + IframeRoutes(
                projectForKey: pages.projectForKey,
                snapshot: { configuration.snapshot },
                ownAddress: pages.address,
                development: pages.development
            ).routes
            + SessionCookieRoutes(createSessionCookie: accounts.createSessionCookie).routes
            + KeyRoutes(configuration: configuration, ownURL: ownURL).routes
            + ConsoleRoutes(
                accounts: accounts,
                configuration: configuration,
                ownAddress: pages.address,
                providerRoutes: providers,
                operations: pages.operations
            ).routes
            + UnbuiltRoutes.routes
    }
}
