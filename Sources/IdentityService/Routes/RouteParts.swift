import Accounts
import Projects
import Storage

/// The shared parts of the routes.
struct RouteParts: Sendable {
    let accounts: AccountsService
    let configuration: ConfigurationStore
    let deployment: Deployment
    let projectForKey: @Sendable (APIKey) -> Project?
    /// Finds a project by ID or number.
    let projectNamed: @Sendable (String) async throws -> Project?
    let development: Bool
    /// Whether providers may have http URLs on loopback.
    let allowsLoopbackProviders: Bool
    let operations: ConsoleOperations

    /// The routes of the whole API.
    var api: [Route] {
        let admin = AdminAccountRoutes(accounts: accounts)
        let signInPages = SignInPageRoutes(accounts: accounts, projectForKey: projectForKey, deployment: deployment)
        let providers = ProviderRoutes(
            configuration: configuration,
            providerTokens: accounts.providerToken,
            allowsLoopback: allowsLoopbackProviders
        )
        let groups: [[Route]] = [
            ClientAccountRoutes(accounts: accounts, admin: admin).routes,
            OOBCodeRoutes(accounts: accounts).routes,
            ActionPageRoutes(accounts: accounts, projectForKey: projectForKey).routes,
            SecondFactorRoutes(accounts: accounts).routes,
            PhoneRoutes(accounts: accounts).routes,
            TokenRoutes(accounts: accounts).routes,
            AccessTokenRoutes(accounts: accounts, deployment: deployment).routes,
            ProviderGrantRoutes(accounts: accounts).routes,
            NotificationRoutes(accounts: accounts, projectNamed: projectNamed, deployment: deployment).routes,
            admin.routes,
            UploadAccountsRoute(accounts: accounts).routes,
            QueryAccountsRoutes(accounts: accounts).routes,
            MergeAccountsRoutes(accounts: accounts).routes,
            DownloadAccountsRoute(admin: admin).routes,
            RevocationRoutes(accounts: accounts).routes,
            AuditRoutes(accounts: accounts).routes,
            ProjectRoutes().routes,
            SettingsRoutes(configuration: configuration, deployment: deployment).routes,
            providers.routes,
            AppRoutes(configuration: configuration).routes,
            TenantRoutes(configuration: configuration).routes,
            signInPages.routes,
            HandlerRoutes(
                accounts: accounts,
                projectForKey: projectForKey,
                deployment: deployment,
                signInPages: signInPages
            ).routes,
            IframeRoutes(
                projectForKey: projectForKey,
                snapshot: { configuration.snapshot },
                deployment: deployment,
                development: development
            ).routes,
            SessionCookieRoutes(accounts: accounts).routes,
            KeyRoutes(configuration: configuration, deployment: deployment).routes,
            ConsoleRoutes(
                accounts: accounts,
                configuration: configuration,
                deployment: deployment,
                providerRoutes: providers,
                operations: operations
            ).routes,
            UnbuiltRoutes.routes,
        ]
        return groups.flatMap { $0 }
    }
}
