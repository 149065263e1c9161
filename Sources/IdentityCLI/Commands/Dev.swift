import ArgumentParser
import Delivery
import Development
import Federation
import Foundation
import IdentityService
import Linking
import Logging
import Migrations
import Outbound
import Passwords
import Postgres
import Projects
import Secrets
import ServiceLifecycle
import Storage
import UnixSignals

struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run everything for development: a private PostgreSQL, a demo identity provider, the service.",
        discussion: """
            Listens on 127.0.0.1 alone. Any API key means the project, `Authorization: Bearer owner` is an admin, and fake \
            provider credentials are believed: never put it on a network. Prints `ready http://127.0.0.1:PORT` once it \
            serves; Ctrl-C stops all of it.
            """
    )

    @Option(help: "The service's port; the demo identity provider takes the next one. 0 for any free ports.")
    var port = 9099

    @Option(help: "Where the database lives between starts.")
    var data = ".data"

    @Flag(help: "Start with an empty database in a temporary folder, and remove it at the end.")
    var ephemeral = false

    @Option(help: "The project that every API key means.")
    var project = "demo-project"

    @Option(help: "Which demo identity providers to start: none, some (Demo ID, Google, GitHub) or all.")
    var demoProviders = DemoProviders.Selection.some

    @Flag(help: "Issue ID tokens without a signature, as the emulator does: Admin SDKs for Node.js want it so.")
    var unsignedTokens = false

    func validate() throws {
        guard (0...65_534).contains(port) else { throw ValidationError("--port must be between 0 and 65534") }
    }

    func run() async throws {
        guard let projectID = ProjectID(rawValue: project) else {
            throw CommandFailure.usage("'\(project)' is no project id: 6 to 30 of a-z, 0-9 and -, a letter first")
        }
        let folder = try makeFolder()
        defer { if ephemeral { try? FileManager.default.removeItem(atPath: folder.path) } }
        let cluster = PrivateCluster(folder: folder.path, durable: !ephemeral)
        Progress.say("starting PostgreSQL in \(ephemeral ? "a temporary folder" : folder.path) …")
        do {
            try await cluster.start()
        } catch let error as PrivateClusterError {
            throw CommandFailure.configuration("\(error)")
        }
        do {
            try await serve(projectID, folder, cluster)
        } catch {
            await cluster.stop()
            throw readable(error)
        }
        await cluster.stop()
        Progress.say("stopped")
    }

    private func makeFolder() throws -> DataFolder {
        let path =
            ephemeral
            ? FileManager.default.temporaryDirectory.appending(
                path: "identity-dev-\(ProcessInfo.processInfo.processIdentifier)"
            )
            .path
            : data
        return DataFolder(path: path)
    }

    private func serve(_ projectID: ProjectID, _ folder: DataFolder, _ cluster: PrivateCluster) async throws {
        guard let conninfo = cluster.conninfo else { throw CommandFailure.failed("PostgreSQL did not start") }
        var logger = Logger(label: "identity") { _ in ReadableLogHandler() }
        logger.logLevel = .info
        let database = PostgresClient(PostgresClient.Configuration(conninfo: conninfo), logger: logger)
        let applied = try await Migrator(database).migrate()
        if !applied.isEmpty { Progress.say("migrated: \(applied.count) step\(applied.count == 1 ? "" : "s")") }
        let stores = Stores(database: database, keyRing: try folder.keyRing(), logger: logger, now: { Date() })
        try folder.write(conninfo: conninfo)
        let outbound = OutboundClient(allowsLoopback: true)
        let passwords = PasswordHasher(workers: System.coreCount, queueLimit: 256)
        let provider = TestProvider(port: port == 0 ? 0 : port + 1, logger: quiet(logger))
        let address = OwnAddress()
        var options = DevelopmentMode.options(
            stores: stores,
            project: projectID,
            unsignedTokens: unsignedTokens
        ) { address.baseURL }
        options.messenger = Messenger(through: outbound)
        options.functions = FunctionCaller(through: outbound)
        let assembly = ServiceAssembly(
            stores: stores,
            federation: FederationService(
                http: outbound,
                now: { Date() },
                verifiers: [FakeCredentialVerifier()]
            ),
            passwords: passwords,
            options: options,
            logger: logger,
            now: { Date() }
        )
        let application = ServiceApplication.make(
            responder: assembly.responder,
            address: ServiceApplication.Address(port: port),
            logger: logger,
            onRunning: { port in
                address.listens(on: port)
                announce(port: port, provider: demoProviders == .none ? nil : try? await provider.baseURL())
            }
        )
        let server = Prepared(service: application) {
            try await DevelopmentMode.prepare(
                stores.configuration,
                project: projectID,
                provider: provider,
                providers: demoProviders
            )
        }
        var services: [any Service] = [
            database, outbound, passwords, stores.configuration, assembly.deliveries,
            Sweeper(database: database, logger: logger, now: { Date() }),
            MessagePrinter(stores: stores, say: Progress.say),
        ]
        if demoProviders != .none { services.append(provider) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services + [server],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: quiet(logger)
            )
        )
        try await group.run()
    }

    private func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        logger.logLevel = .error
        return logger
    }

    private func announce(port: Int, provider: String?) {
        let base = "http://127.0.0.1:\(port)"
        Progress.say(
            """

            Open \(base)/ and sign in\(provider.map { " with a demo identity provider (\($0))" } ?? "").
            Or try:

              curl '\(base)/v1/accounts:signUp?key=any' -H 'content-type: application/json' \\
                -d '{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}'

              curl '\(base)/v1/projects/\(project)/accounts:batchGet' -H 'authorization: Bearer owner'

            ready \(base)
            """
        )
    }
}

extension DemoProviders.Selection: ExpressibleByArgument {}

/// Runs a service after something else was done.
private struct Prepared: Service {
    let service: any Service
    let preparation: @Sendable () async throws -> Void

    func run() async throws {
        try await preparation()
        try await service.run()
    }
}

/// What a person at the terminal sees, at once.
enum Progress {
    static func say(_ text: String) { FileHandle.standardOutput.say(Data("\(text)\n".utf8)) }
}
