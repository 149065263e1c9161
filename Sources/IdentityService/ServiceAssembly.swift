package import Accounts
package import Delivery
package import Federation
import Linking
package import Logging
package import Passwords
package import Postgres
package import Projects
import Prometheus
package import Secrets
package import Sessions
package import Storage
package import struct Foundation.Date

/// The service assembled over its stores: use cases, routes, gate.
///
/// Both the commands and the tests use it.
package struct ServiceAssembly: Sendable {
    package let accounts: AccountsService
    /// Delivers the outbox's messages while it runs.
    package let deliveries: DeliverMessages
    /// Adds this node's sign-in counts to the database while it runs.
    package let signInCounts: SaveSignInCounts
    package let responder: ServiceResponder
    /// Serves metrics and health checks on a separate address, and nothing else.
    package let operations: ServiceResponder

    /// The differences between the modes; the defaults are those of `identity serve`.
    package struct Options: Sendable {
        /// Providers may lack a configuration, and any loopback continue URL is allowed.
        package var development = false
        /// Nil uses the API keys of the database.
        package var projectForKey: (@Sendable (APIKey) -> Project?)?
        /// Nil uses the existing projects.
        package var projectNamed: (@Sendable (ProjectID) async throws -> Project?)?
        /// Wraps the admin credentials of the database.
        package var admins: @Sendable (any AdminAuthenticator) -> any AdminAuthenticator = { $0 }
        /// Sends emails; if nil, they stay in the outbox for a node that can.
        package var mailer: Mailer?
        /// Calls blocking functions; if nil, sign-ins that need one are refused.
        package var functions: FunctionCaller?
        /// The number of lines that the log has lost.
        package var droppedLogLines: @Sendable () -> UInt64 = { 0 }
        /// Sends SMS and webhooks; if nil, they stay in the outbox for a node that can.
        package var messenger: Messenger?
        /// The start of links to this service; nil for links without a host.
        package var publicURL: String?
        /// The URL at which browsers reach this service's pages, without a trailing `/`; nil for ``publicURL``.
        package var pagesURL: (@Sendable (Call) -> String?)?
        /// The page for links in emails; nil for the one below ``publicURL``.
        package var actionURL: (@Sendable () -> String?)?
        /// The start of ID token issuers, the same for every caller, without a trailing `/`; nil for ``publicURL``.
        package var issuerURL: (@Sendable () -> String?)?
        package var additionalRoutes: [Route] = []
        /// Additional routes that use the use cases.
        package var routesOverAccounts: @Sendable (AccountsService) -> [Route] = { _ in [] }
        /// Additional routes that use all other routes.
        package var routesOverRoutes: @Sendable ([Route]) -> [Route] = { _ in [] }
        /// Reads an unsigned custom token.
        package var unsignedCustomToken: @Sendable (_ text: String) -> CustomToken? = { _ in nil }
        /// Reads the password in an uploaded hash.
        package var passwordInHash: @Sendable (_ text: String) -> Secret? = { _ in nil }
        /// Creates ID tokens; nil signs them with the keys of the database.
        package var tokenSigner: (any TokenSigner)?
        /// Wraps the verifier of ID tokens.
        package var tokenVerifier: @Sendable (any TokenVerifier) -> any TokenVerifier = { $0 }
        package var limits = ServiceResponder.Limits()
        /// Waits before checking again what another node is doing.
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Whether the database's schema matches this release.
        package var migrationsAreCurrent: @Sendable (PostgresClient) async throws -> Bool = { _ in true }

        package init() {}
    }

    package init(
        stores: Stores,
        federation: FederationService,
        passwords: PasswordHasher,
        options: Options = Options(),
        logger: Logger,
        random: RandomSource = .system,
        now: @escaping @Sendable () -> Date
    ) {
        let configuration = stores.configuration
        let publicPages = options.publicURL.map(Self.withoutSlash)
        let ownURL = options.issuerURL ?? { publicPages }
        let parts = Parts(
            stores: stores,
            federation: federation,
            passwords: passwords,
            tokenVerifier: options.tokenVerifier(IDTokenVerifier(cache: VerifiedTokenCache(capacity: 65_536))),
            tokenSigner: options.tokenSigner,
            random: random,
            now: now,
            pause: options.pause,
            mailer: options.mailer,
            functions: options.functions,
            messenger: options.messenger,
            actionURL: options.actionURL
                ?? { publicPages.map { $0 + "/__/auth/action" } },
            ownURL: ownURL,
            development: options.development,
            unsignedCustomToken: options.unsignedCustomToken,
            passwordInHash: options.passwordInHash
        )
        accounts = AccountsService(parts)
        deliveries = DeliverMessages(parts, logger: logger)
        let events = AccountEvents(now: now)
        signInCounts = SaveSignInCounts(events: events, store: stores.signInCounts, logger: logger)
        let readiness = Readiness(stores, migrationsAreCurrent: options.migrationsAreCurrent) { [deliveries] in
            [
                Readiness.Check(name: "mail", outcome: deliveries.mailServer.someFail ? .failed : .ok),
                Readiness.Check(name: "providers", outcome: federation.calls.failing.someFail ? .failed : .ok),
            ]
        }
        let health = HealthRoutes(readiness: readiness)
        let projectNamed: @Sendable (String) async throws -> Project? = { name in
            if let number = Int64(name) {
                return configuration.snapshot.project(number: ProjectNumber(rawValue: number))
            }
            guard let id = ProjectID(rawValue: name) else { return nil }
            if let projectNamed = options.projectNamed { return try await projectNamed(id) }
            return configuration.snapshot.project(id)
        }
        let projectForKey = options.projectForKey ?? { configuration.snapshot.project(apiKey: $0) }
        let configurationCheck = ConfigurationCheck(
            isDevelopment: options.development,
            allowsLoopback: federation.allowsLoopback,
            publicURL: options.publicURL,
            sendsMail: options.mailer != nil
        )
        let api = RouteTable.api(
            accounts: accounts,
            configuration: configuration,
            pages: RouteTable.Pages(
                address: OwnPages(options.pagesURL ?? { _ in publicPages }),
                projectForKey: projectForKey,
                development: options.development,
                operations: ConsoleOperations(
                    saveCounts: signInCounts.save,
                    backlog: { try await stores.backlog() },
                    waitingMessages: { try await stores.waitingMessages(50) },
                    findings: { configurationCheck($0, in: configuration.snapshot) },
                    mailFails: { [deliveries] in deliveries.mailServer.someFail },
                    failingProviders: { federation.calls.failing.names }
                )
            ),
            allowsLoopbackProviders: federation.allowsLoopback,
            publicURL: options.publicURL,
            ownURL: ownURL,
            projectForKey: projectForKey,
            projectNamed: projectNamed,
            additional: options.additionalRoutes + options.routesOverAccounts(accounts) + health.routes
        )
        let load = ServerLoad(options.limits)
        let unmatched = RouteMeter()
        let metrics = MetricsRoutes(
            measured: api,
            unmatched: unmatched,
            load: load,
            stores: stores,
            passwords: passwords,
            events: events,
            deliveries: deliveries,
            calls: federation.calls,
            functions: options.functions,
            readiness: readiness,
            droppedLogLines: options.droppedLogLines,
            now: now
        )
        let gate = Gate(
            projectForKey: { key in
                if let project = projectForKey(key) { return project }
                // A newer release may have written the settings. Apps take a refused key for final, and sign users out.
                guard !configuration.snapshot.hasUnreadableProject(key) else {
                    throw WireError.unavailable(cause: "configuration.unreadable")
                }
                return nil
            },
            projectNamed: projectNamed,
            admins: options.admins(DatabaseAdmins(configuration: configuration)),
            now: now
        )
        let served = options.development ? metrics.routes + api : api
        responder = ServiceResponder(
            table: RouteTable(served + options.routesOverRoutes(served)),
            gate: gate,
            limits: options.limits,
            load: load,
            unmatched: unmatched,
            events: events,
            logger: logger,
            now: now
        )
        operations = ServiceResponder(
            table: RouteTable(metrics.routes + health.routes),
            gate: gate,
            limits: options.limits,
            logger: logger,
            now: now
        )
    }
}

extension ServiceAssembly {
    private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}

/// The admin credentials of the database, queried each time, so that a revocation applies immediately.
private struct DatabaseAdmins: AdminAuthenticator {
    let configuration: ConfigurationStore

    func credential(for token: Secret) async throws -> AdminCredential? {
        try await configuration.adminCredential(forToken: token.reveal())
    }
}
