package import Accounts
package import Administration
import Federation
package import HTTPTypes
package import Logging
package import Postgres
package import Projects
import Secrets
import Storage

/// The service assembled over its use cases: routes, authenticator, metrics.
///
/// Both the commands and the tests use it.
package struct ServiceAssembly: Sendable {
    package let accounts: AccountsService
    package let administration: AdministrationService
    /// Delivers the outbox's messages while it runs.
    package let deliveries: DeliverMessages
    /// Adds this node's sign-in counts to the database while it runs.
    package let signInCounts: SaveSignInCounts
    package let responder: ServiceResponder
    /// Serves metrics and health checks on a separate address, and nothing else.
    package let operations: ServiceResponder

    /// The differences between the modes; the defaults are those of `identity serve`.
    package struct Options: Sendable {
        /// Nil uses the API keys of the database.
        package var projectForKey: (@Sendable (APIKey) -> Project?)?
        /// Nil uses the existing projects.
        package var projectNamed: (@Sendable (ProjectID) async throws -> Project?)?
        /// The project of an admin's request that names none; nil refuses such requests.
        package var unnamedProject: (@Sendable () -> Project?)?
        /// Whether a tenant's display name may be any line of text.
        package var allowsAnyTenantName = false
        /// Wraps the admin credentials of the database.
        package var admins: @Sendable (any AdminAuthenticator) -> any AdminAuthenticator = { $0 }
        /// The number of lines that the log has lost.
        package var droppedLogLines: @Sendable () -> UInt64 = { 0 }
        /// Whether a browser's page that sends these headers may act as an admin.
        package var trustsOrigin: @Sendable (HTTPFields) -> Bool = { _ in true }
        /// Additional routes, which take precedence.
        package var additionalRoutes: @Sendable (AccountsService) -> [Route] = { _ in [] }
        /// Additional routes that use all other routes.
        package var routesOverRoutes: @Sendable ([Route]) -> [Route] = { _ in [] }
        package var limits = ServiceResponder.Limits()
        /// How long readiness and metrics wait for the database: it is reported as unavailable within two seconds, with
        /// some reserve.
        package var databaseCheck = Duration.milliseconds(1500)
        /// Whether the database's schema matches this release.
        package var migrationsAreCurrent: @Sendable (PostgresClient) async throws -> Bool = { _ in true }

        package init() {}
    }

    package init(_ accounts: AccountsService, _ options: Options = Options(), logger: Logger) {
        self.accounts = accounts
        administration = AdministrationService(
            stores: accounts.stores,
            random: accounts.random,
            allowsLoopback: accounts.federation.allowsLoopback,
            allowsAnyTenantName: options.allowsAnyTenantName,
            deployment: accounts.deployment,
            limits: accounts.options.deploymentLimits,
            reading: { url, project in
                try await accounts.federation.calling(for: project) {
                    try await accounts.federation.file(at: url, atMost: 4_096)
                }
            }
        )
        deliveries = DeliverMessages(accounts, logger: logger)
        let events = AccountEvents(now: accounts.clock)
        signInCounts = SaveSignInCounts(events: events, store: accounts.stores.signInCounts, logger: logger)
        let readiness = Readiness(
            accounts,
            deliveries,
            within: options.databaseCheck,
            migrationsAreCurrent: options.migrationsAreCurrent
        )
        let health = HealthRoutes(readiness: readiness)
        let configuration = accounts.stores.configuration
        let deployment = accounts.deployment.findingProjects { configuration.snapshot.owner(ofHost: $0) }
        let routeParts = RouteParts(
            accounts: accounts,
            administration: administration,
            configuration: accounts.stores.configuration,
            deployment: deployment,
            projectForKey: options.projectForKey ?? { accounts.stores.configuration.snapshot.project(apiKey: $0) },
            projectNamed: { try await Self.project(named: $0, options, accounts.stores.configuration) },
            development: accounts.options.development,
            operations: ConsoleOperations(accounts, deliveries, signInCounts)
        )
        let authenticator = RequestAuthenticator(
            projectForKey: { key, network in
                // In `identity dev` any key will do, but one that was made for a project means that one.
                if key.looksGenerated {
                    let made = await configuration.findingNew(from: network) {
                        configuration.snapshot.project(apiKey: key)
                    }
                    if let made { return made }
                }
                if let project = routeParts.projectForKey(key) { return project }
                // A newer release may have written the settings. Apps take a refused key for final, and sign users out.
                guard !accounts.stores.configuration.snapshot.hasUnreadableProject(key) else {
                    throw WireError.unavailable(cause: "configuration.unreadable")
                }
                return nil
            },
            projectNamed: routeParts.projectNamed,
            unnamedProject: options.unnamedProject,
            admins: options.admins(
                DatabaseAdmins(configuration: accounts.stores.configuration, selfSigned: accounts.selfSignedToken)
            ),
            trustsOrigin: options.trustsOrigin,
            now: accounts.clock
        )
        let load = ServerLoad(options.limits)
        let ofAPI = routeParts.api
        let cookies = CookieRoutes(
            accounts: accounts,
            deployment: deployment,
            snapshot: { accounts.stores.configuration.snapshot },
            projectOfKey: { try await authenticator.project(ofKeyIn: $1, query: $0, host: .identityToolkit) },
            development: accounts.options.development,
            responder: ServiceResponder(
                table: RouteTable(CookieRoutes.operations(of: ofAPI)),
                authenticator: authenticator,
                isForBrowsers: false,
                load: load,
                events: events,
                logger: logger,
                now: accounts.clock
            )
        )
        let api = options.additionalRoutes(accounts) + health.routes + ofAPI + cookies.routes
        let unmatched = RouteMeter()
        let metrics = MetricsRoutes(
            accounts,
            measured: api,
            unmatched: unmatched,
            load: load,
            events: events,
            deliveries: deliveries,
            readiness: readiness,
            databaseCheck: options.databaseCheck,
            droppedLogLines: options.droppedLogLines
        )
        let served = accounts.options.development ? metrics.routes + api : api
        responder = ServiceResponder(
            table: RouteTable(served + options.routesOverRoutes(served)),
            authenticator: authenticator,
            limits: options.limits,
            load: load,
            unmatched: unmatched,
            events: events,
            logger: logger,
            now: accounts.clock
        )
        operations = ServiceResponder(
            table: RouteTable(metrics.routes + health.routes),
            authenticator: authenticator,
            isForBrowsers: false,
            limits: options.limits,
            logger: logger,
            now: accounts.clock
        )
    }

    /// - Parameter name: a project's ID or number.
    private static func project(
        named name: String,
        _ options: Options,
        _ configuration: ConfigurationStore
    ) async throws -> Project? {
        if let number = Int64(name).map({ ProjectNumber(rawValue: $0) }) {
            return await configuration.findingNew(from: nil) { configuration.snapshot.project(number: number) }
        }
        guard let id = ProjectID(rawValue: name) else { return nil }
        if let projectNamed = options.projectNamed { return try await projectNamed(id) }
        return await configuration.findingNew(from: nil) { configuration.snapshot.project(id) }
    }
}

/// The admin credentials of the database, queried each time, so that a revocation applies immediately.
private struct DatabaseAdmins: AdminAuthenticator {
    let configuration: ConfigurationStore
    let selfSigned: SelfSignedToken

    func credential(for token: Secret) async throws -> AdminCredential? {
        // A JWT has periods, other tokens have none.
        guard !token.reveal().utf8.contains(UInt8(ascii: ".")) else { return try await selfSigned.credential(token) }
        return try await configuration.adminCredential(forToken: token.reveal())
    }
}
