import Accounts
import Administration
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
    /// - Parameter additional: take precedence over routes with the same method and path.
    static func api(
        accounts: AccountsService,
        administration: AdministrationService,
        configuration: ConfigurationStore,
        pages: Pages,
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
            + SettingsRoutes(changeSettings: administration.changeSettings).routes
            + ProviderRoutes(configuration: configuration, changeProvider: administration.changeProvider).routes
            + AppRoutes(apps: administration.apps).routes
            + TenantRoutes(tenants: administration.tenants).routes
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
                administration: administration,
                configuration: configuration,
                ownAddress: pages.address,
                operations: pages.operations
            ).routes
            + UnbuiltRoutes.routes
    }
}
