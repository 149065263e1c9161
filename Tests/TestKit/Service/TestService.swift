import Accounts
package import Delivery
import Development
import Federation
import Foundation
package import IdentityService
package import InMemoryLogging
import Logging
package import Outbound
package import Passwords
import Postgres
package import Projects
package import Secrets
import ServiceLifecycle
package import Storage

/// The whole service over a real database, with a clock that tests move and a project of its own.
///
/// It listens at ``baseURL``; calls by its own methods go to what answers there without the way through sockets, unless
/// ``Options/callsOverHTTP`` says otherwise.
///
/// Everything in it is what `identity serve` runs; what differs stands in ``Options``.
package struct TestService: Sendable {
    package let baseURL: String
    package let clock: SteppableClock
    package let stores: Stores
    package let assembly: ServiceAssembly
    package let passwords: PasswordHasher
    package let project: Project
    package let apiKey: String
    /// A bearer token for everything in every project.
    package let adminToken: String
    package let logs: InMemoryLogHandler
    /// Whether calls go through sockets.
    let callsOverHTTP: Bool
    /// The second node of a test with the trait `.twoNodes`, which takes every other call.
    private(set) var other: OtherNode?

    package struct Options: Sendable {
        /// `identity dev`: fake credentials, any key, `Bearer owner`.
        package var development = false
        /// `identity dev --unsigned-tokens`.
        package var unsignedTokens = false
        /// Receives what `identity dev` prints of emails and SMS.
        package var say: @Sendable (String) -> Void = { _ in }
        /// As `ProjectSettings()`, with anonymous sign-in.
        package var settings: ProjectSettings = {
            var settings = ProjectSettings()
            settings.anonymousSignIn = true
            return settings
        }()
        /// Another service's clock, which both then share; one of its own without.
        package var clock: SteppableClock?
        /// Whether the project's limits count: most suites do from one address what a thousand people do.
        package var limitsRates = false
        /// Of limits that count over all projects; the usual ones, or those of ``development``, without.
        package var deploymentLimits: DeploymentLimits?
        package var outboundLimits = OutboundLimits.patient
        /// Whether documents and URIs of clients for whom no admin vouches may be on this machine, as in `identity dev`.
        package var letsStrangersUseLoopback = true
        /// Ends outgoing requests that take too long.
        package var outboundTime = OutboundTime()
        /// Another database than the suite's.
        package var conninfo: String?
        package var batches = TestServer.engine == .postgresql
        /// Whether the node looks twice a second whether its configuration has changed.
        package var watchesConfiguration = true
        package var connections = 4
        /// How many statements may wait for a connection; nil for as many as tests need.
        package var statementsThatWait: Int?
        /// Whether nothing is refused because the database is slow; a test that takes it away needs the service's own
        /// limits.
        package var waitsForDatabase = true
        /// For tests of what the HTTP server does with calls: counts them, limits them, loses their clients.
        package var callsOverHTTP = false
        package var limits = ServiceResponder.Limits.patient
        package var hashQueueLimit = Patience.count
        /// The password hashes of one project or network; nil for a quarter.
        package var hashShareLimit: Int?
        /// Runs before each password hash, on its thread.
        package var beforeHash: @Sendable () -> Void = {}
        /// How a request passes the time until it looks again at what another one is doing.
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Who takes mails; nobody without.
        package var mailer: Mailer?
        package var leakedPasswords: (any LeakedPasswords)?
        /// Whether SMS and webhooks leave the outbox.
        package var sendsMessages = false
        /// Where it is said to be; of no effect in ``development``, where it is where it listens.
        package var publicURL: String? = "https://id.example.com"
        /// Whether it is said to be where it listens, instead of at ``publicURL``.
        package var ownPages = false
        /// A random one without.
        package var projectID: String?
        /// A project that another service on the same database made: this one is a further node for it.
        package var project: Project?
        /// The keys of its ring; those of every other service without.
        package var encryptionKeys: [KeyRing.Key]?

        package init() {}
    }

    /// Runs `body` against a service that listens on a free port, and stops it.
    package static func run<R: Sendable>(
        _ options: Options = Options(),
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        guard TwoNodesTrait.isOn else { return try await runOne(options, body) }
        return try await runPair(options) { first, second in
            var both = first
            both.other = OtherNode(node: ServiceNode(second))
            return try await body(both)
        }
    }

    private static func runOne<R: Sendable>(
        _ options: Options,
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        Started.count(.service)
        let logs = InMemoryLogHandler()
        var logger = Logger(label: "identity") { _ in logs }
        logger.logLevel = .debug
        // A test that names a database breaks it.
        let lent =
            options.conninfo == nil && options.statementsThatWait == nil
            ? LentClients.take(TestDatabase.current.conninfo, connections: options.connections) : nil
        let conninfo = options.conninfo ?? TestDatabase.current.conninfo
        var configuration =
            options.waitsForDatabase
            ? PostgresClient.Configuration.patient(conninfo, connections: options.connections)
            : PostgresClient.Configuration(
                conninfo: conninfo,
                engine: TestServer.engine,
                connections: options.connections
            )
        if let limit = options.statementsThatWait { configuration.queueLimit = limit }
        let database = lent?.database ?? PostgresClient(configuration, logger: logger)
        let clock = options.clock ?? SteppableClock()
        let stores = Stores(
            database: database,
            watch: lent?.watch,
            keyRing: try KeyRing(keys: options.encryptionKeys ?? Self.encryptionKeys.get()),
            logger: logger,
            batches: options.batches,
            now: clock.now
        )
        let isUsual = options.conninfo == nil && options.encryptionKeys == nil && options.clock == nil
        if isUsual { try await FirstSigningKeys.put(into: database, at: clock.current) }
        try await stores.configuration.ensureSigningKeys()
        if isUsual { try await FirstSigningKeys.keep(of: database) }
        let random = "test-" + RandomSource.system.text(12, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        guard let id = ProjectID(rawValue: options.projectID ?? random) else { throw TestServiceError.setUp }
        let project: Project
        if let given = options.project {
            project = given
        } else {
            var settings = options.settings
            settings.rateLimits.isEnabled = options.limitsRates
            project = try await stores.configuration.createProject(id, settings: settings)
        }
        let key = try await stores.configuration.createAPIKey(for: project.id, displayName: nil)
        let (_, token) = try await stores.configuration.createAdminCredential(
            name: "tests",
            project: nil,
            scopes: Set(AdminScope.allCases),
            expiresAt: nil
        )
        let outbound = OutboundClient(
            policy: AddressPolicy(allowsLoopback: true),
            strangers: AddressPolicy(allowsLoopback: options.letsStrangersUseLoopback),
            limits: options.outboundLimits,
            passing: options.outboundTime.pass
        )
        let passwords = PasswordHasher(
            workers: 2,
            queueLimit: options.hashQueueLimit,
            shareLimit: options.hashShareLimit
        ) {
            (password, salt, parameters, signerKey) throws(PasswordError) in
            options.beforeHash()
            return try Self.cheapScrypt(password, salt, parameters, signerKey)
        }
        let address = OwnAddress()
        var own = AccountsService.Options()
        own.mailer = options.mailer
        own.leakedPasswords = options.leakedPasswords
        own.functions = FunctionCaller(through: outbound)
        own.captchas = CaptchaService(through: outbound)
        if options.sendsMessages { own.messenger = Messenger(through: outbound) }
        own.pause = options.pause
        var assemblyOptions =
            options.development
            ? DevelopmentMode.options(
                for: &own,
                stores,
                project: project.id,
                unsignedTokens: options.unsignedTokens,
                say: options.say
            )
            : ServiceAssembly.Options()
        if let limits = options.deploymentLimits { own.deploymentLimits = limits }
        let accounts = AccountsService(
            stores: stores,
            federation: FederationService(
                http: outbound,
                now: clock.now,
                verifiers: options.development ? [FakeCredentialVerifier()] : []
            ),
            passwords: passwords,
            deployment: Self.deployment(options, address),
            options: own,
            now: clock.now
        )
        assemblyOptions.limits = options.limits
        if options.waitsForDatabase { assemblyOptions.databaseCheck = Patience.limit }
        let assembly = ServiceAssembly(accounts, assemblyOptions, logger: logger)
        let (ports, portContinuation) = AsyncStream.makeStream(of: Int.self)
        let application = HTTPServer(
            responder: assembly.responder,
            address: HTTPServer.Address(port: 0),
            onRunning: {
                address.listens(on: $0)
                portContinuation.yield($0)
            }
        )
        let group = ServiceGroup(
            services: (lent == nil ? [database] : []) + [outbound, passwords]
                + (options.watchesConfiguration ? [stores.configuration] : []) + [application],
            logger: logger
        )
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { portContinuation.finish() }
                try await group.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await tasks.waitForAll()
                throw TestServiceError.setUp
            }
            let service = TestService(
                baseURL: "http://127.0.0.1:\(port)",
                clock: clock,
                stores: stores,
                assembly: assembly,
                passwords: passwords,
                project: project,
                apiKey: key.rawValue,
                adminToken: token.reveal(),
                logs: logs,
                callsOverHTTP: options.callsOverHTTP
            )
            do {
                let result = try await SteppableClock.$ofService.withValue(clock) { try await body(service) }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                await lent?.giveBack()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                try? await tasks.waitForAll()
                await lent?.giveBack()
                throw error
            }
        }
    }

    /// The real algorithm at its lowest cost: a debug build takes half a second for the usual one.
    private static let cheapScrypt: PasswordHasher.Function = { (password, salt, _, signerKey) throws(PasswordError) in
        guard let cheap = ScryptParameters(rounds: 1, memoryCost: 1, saltSeparator: [7]) else { throw .hashingFailed }
        return try FirebaseScrypt.hash(password, salt: salt, parameters: cheap, signerKey: signerKey)
    }

    /// Runs `body` against two nodes of one project: separate services that share the database and the clock alone.
    package static func runPair<R: Sendable>(
        _ options: Options = Options(),
        _ body: @Sendable (_ first: TestService, _ second: TestService) async throws -> R
    ) async throws -> R {
        try await runOne(options) { first in
            var other = options
            other.project = first.project
            other.clock = first.clock
            return try await runOne(other) { second in try await body(first, second) }
        }
    }

    /// The same for all services of a run: several may share a database.
    package static let encryptionKeys = Result {
        [try KeyRing.Key(id: "test", bytes: [UInt8](repeating: 7, count: 32))]
    }

    private static func deployment(_ options: Options, _ address: OwnAddress) -> Deployment {
        if options.development { return address.deployment }
        return options.ownPages ? Deployment { address.publicURL } : Deployment(publicURL: options.publicURL)
    }
}

package enum TestServiceError: Error {
    case setUp
    case unexpected(String)
}
