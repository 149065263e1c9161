import Accounts
import Administration
import Projects
import Storage

/// The shared parts of the routes.
struct RouteParts: Sendable {
    let accounts: AccountsService
    let administration: AdministrationService
    let configuration: ConfigurationStore
    let deployment: Deployment
    let projectForKey: @Sendable (APIKey) -> Project?
    /// The project of an API key, for a page at the host of a call.
    @Sendable func projectOfPage(_ key: String, _ call: Call) -> Project? {
        projectForKey(APIKey(rawValue: key)).flatMap { deployment.shows($0.id, at: call.host) ? $0 : nil }
    }

    /// Finds a project by ID or number.
    let projectNamed: @Sendable (String) async throws -> Project?
    let development: Bool
    let operations: ConsoleOperations

    /// The routes of the whole API.
    var api: [Route] {
        let admin = AdminAccountRoutes(accounts: accounts)
        let signInPages = SignInPageRoutes(accounts: accounts, projectOfPage: projectOfPage, deployment: deployment)
        let groups: [[Route]] = [
            ClientAccountRoutes(accounts: accounts, admin: admin).routes,
            OOBCodeRoutes(accounts: accounts).routes,
            ActionPageRoutes(accounts: accounts, projectOfPage: projectOfPage).routes,
            ForgotPasswordRoutes(
                accounts: accounts,
                projectOfPage: projectOfPage,
                snapshot: { configuration.snapshot },
                deployment: deployment,
                development: development
            ).routes,
            SecondFactorRoutes(accounts: accounts).routes,
            PasskeyRoutes(accounts: accounts).routes,
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
            SettingsRoutes(changeSettings: administration.changeSettings).routes,
            PasskeyConfigRoutes(
                changeSettings: administration.changeSettings,
                tenants: administration.tenants
            ).routes,
            ProviderRoutes(configuration: configuration, changeProvider: administration.changeProvider).routes,
            AppRoutes(apps: administration.apps).routes,
            TenantRoutes(tenants: administration.tenants).routes,
            signInPages.routes,
            HandlerRoutes(
                accounts: accounts,
                projectOfPage: projectOfPage,
                deployment: deployment,
                signInPages: signInPages
            ).routes,
            IframeRoutes(
                accounts: accounts,
                projectOfPage: projectOfPage,
                snapshot: { configuration.snapshot },
                deployment: deployment,
                development: development
            ).routes,
            SessionCookieRoutes(accounts: accounts).routes,
            KeyRoutes(configuration: configuration, deployment: deployment).routes,
            OAuthRoutes(accounts: accounts, configuration: configuration, deployment: deployment).routes,
            OAuthTokenRoutes(accounts: accounts, configuration: configuration, deployment: deployment).routes,
            OAuthRegistrationRoutes(accounts: accounts, configuration: configuration, deployment: deployment).routes,
            OAuthClientRoutes(clients: administration.oauthClients).routes,
            WellKnownRoutes(configuration: configuration, deployment: deployment).routes,
            ConsoleRoutes(
                accounts: accounts,
                administration: administration,
                configuration: configuration,
                deployment: deployment,
                operations: operations
            ).routes,
            UnbuiltRoutes.routes,
        ]
        return groups.flatMap { $0 }
    }
}
