import Accounts
import ArgumentParser
import Development
import Foundation
import IdentityService
import Logging
import Migrations
import Outbound
import Postgres
import Projects
import Secrets
import ServiceLifecycle
import Storage

struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run everything for development: a private PostgreSQL, demo identity providers and the service.",
        discussion: """
            Listens only on 127.0.0.1. Accepts any API key, `Authorization: Bearer owner` as an admin, and fake provider \
            credentials: never expose it to a network. Prints `ready http://127.0.0.1:PORT` when it accepts requests; \
            Ctrl-C stops everything.
            """
    )

    @Option(help: "The service's port; the demo identity provider uses the next one. 0: any free ports.")
    var port = 9099

    @Option(help: "The folder that keeps the database between starts.")
    var data = ".data"

    @Flag(help: "Start with an empty database in a temporary folder, and delete it on exit.")
    var ephemeral = false

    @Option(help: "The project that every API key names.")
    var project = "demo-project"

    @Option(help: "Which demo identity providers to start: none, some (Demo ID, Google, GitHub) or all.")
    var demoProviders = DemoProviders.Selection.some

    @Flag(
        help: """
            Leave ID tokens, and the JWT of blocking functions, unsigned, as Firebase's emulator does; the Admin SDK for \
            Node.js requires it.
            """
    )
    var unsignedTokens = false

    @Option(
        name: .customLong("import"),
        help: ArgumentHelp("Import the accounts of a folder that Firebase's emulators exported.", valueName: "dir")
    )
    var importFolder: String?

    @Option(
        name: .customLong("export-on-exit"),
        defaultAsFlag: "",
        help: ArgumentHelp(
            "Export the accounts to such a folder on exit; default: the folder of --import.",
            valueName: "dir"
        )
    )
    var exportFolder: String? = nil

    func validate() throws {
        guard (0...65_534).contains(port) else { throw ValidationError("--port must be between 0 and 65534") }
        guard exportFolder != "" || importFolder != nil else {
            throw ValidationError("--export-on-exit requires a folder, or --import")
        }
    }

    func run() async throws {
        guard let projectID = ProjectID(rawValue: project) else {
            throw CommandFailure.usage("'\(project)' is not a project ID: 6 to 30 of a-z, 0-9 and -, first a letter")
        }
        let exchange = try EmulatorExchange(importing: importFolder, exporting: exportFolder)
        try CommandFailure.require(.init(port: port), ": choose another --port")
        if port != 0, demoProviders != .none {
            let advice = ", and the demo identity provider needs it: choose another --port, or --demo-providers none"
            try CommandFailure.require(.init(port: port + 1), advice)
        }
        let folder = try makeFolder()
        defer { if ephemeral { try? FileManager.default.removeItem(atPath: folder.path) } }
        let cluster = PrivateCluster(folder: folder.path, durable: !ephemeral)
        Progress.say("starting PostgreSQL in \(ephemeral ? "a temporary folder" : folder.path) …")
        do {
            try await cluster.start()
        } catch let error as PrivateClusterError {
            // Several lines of its log are one of ours.
            throw CommandFailure.configuration("\(error)".split(separator: "\n").joined(separator: "; "))
        }
        do {
            try await serve(projectID, folder, cluster, exchange)
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

    private func serve(
        _ projectID: ProjectID,
        _ folder: DataFolder,
        _ cluster: PrivateCluster,
        _ exchange: EmulatorExchange
    ) async throws {
        guard let conninfo = cluster.conninfo else { throw CommandFailure.failed("PostgreSQL did not start") }
        var logger = Logger(label: "identity") { _ in ReadableLogHandler() }
        logger.logLevel = .info
        let settings = DatabaseSettings(ofDevelopment: conninfo)
        let database = try settings.client(for: .development, logger)
        let applied = try await Migrator(database).migrate()
        if !applied.isEmpty { Progress.say("migrated: \(applied.count) step\(applied.count == 1 ? "" : "s")") }
        let stores = Stores(database: database, keyRing: try folder.keyRing(), logger: logger, now: { Date() })
        try folder.write(conninfo: conninfo)
        let provider = TestProvider(
            port: port == 0 ? 0 : port + 1,
            people: DemoProviders.people(of: projectID, stores),
            logger: quiet(logger)
        )
        let address = OwnAddress()
        var accounts = AccountsService.Options()
        let options = DevelopmentMode.options(
            for: &accounts,
            stores,
            project: projectID,
            unsignedTokens: unsignedTokens,
            say: Progress.say
        )
        let node = Node(
            stores,
            accounts,
            deployment: address.deployment,
            outbound: AddressPolicy(allowsLoopback: true),
            strangers: AddressPolicy(allowsLoopback: true),
            verifiers: [FakeCredentialVerifier()]
        )
        let assembly = ServiceAssembly(node.accounts, options, logger: logger)
        let application = HTTPServer(
            responder: assembly.responder,
            address: HTTPServer.Address(port: port),
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
            try await exchange.bringIn(projectID, stores, assembly.accounts)
        }
        let silent = quiet(logger)
        let connect = try settings.connect(for: .statistics, silent)
        let statistics = TableStatistics(of: stores, logger: silent, connect: connect)
        var others: [any Service] = [statistics]
        if let folder = exchange.target {
            others.append(ExportOnExit(to: folder, projectID, stores, assembly.accounts, say: Progress.say))
        }
        if demoProviders != .none { others.append(provider) }
        try await node.run(
            assembly,
            with: others,
            [server],
            rotationDays: ServiceConfiguration.defaultRotationDays,
            logger: quiet(logger)
        )
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

/// The folders of `--import` and `--export-on-exit`.
private struct EmulatorExchange: Sendable {
    let source: EmulatorFolder?
    let target: EmulatorFolder?

    /// Checks both before anything is started, so that a typing error is reported immediately, not at the end of a
    /// day's work.
    init(importing: String?, exporting: String?) throws {
        let source = importing.map { EmulatorFolder(path: $0) }
        target = exporting.flatMap { $0.isEmpty ? source : EmulatorFolder(path: $0) }
        do throws(EmulatorFolderError) {
            try target?.checkWritable()
            if let source, source.isEmpty, source == target {
                // The first of many starts with the same command.
                Progress.say("\(source.path) contains nothing to import yet")
                self.source = nil
            } else {
                try source?.checkReadable()
                self.source = source
            }
        } catch { throw CommandFailure.configuration("\(error)") }
    }

    func bringIn(_ project: ProjectID, _ stores: Stores, _ accounts: AccountsService) async throws {
        guard let source, let project = stores.configuration.snapshot.project(project) else { return }
        let imported: EmulatorFolder.Imported?
        do {
            imported = try await source.importAccounts(into: project, stores, accounts)
        } catch let error as EmulatorFolderError {
            throw CommandFailure.configuration("\(error)")
        }
        guard let imported else {
            Progress.say("\(source.path) is an export without accounts")
            return
        }
        for line in imported.refused { Progress.say("not imported: \(line)") }
        for line in imported.incomplete { Progress.say("imported without a part: \(line)") }
        let known = imported.knownAccounts
        Progress.say(
            "imported \(imported.accounts) account\(imported.accounts == 1 ? "" : "s") from \(source.path)"
                + (known > 0 ? "; \(known) already existed and are unchanged" : "")
        )
        guard imported.refused.isEmpty || source != target else {
            throw CommandFailure.configuration(
                "--export-on-exit would overwrite accounts in \(source.path) that were not imported: choose another folder"
            )
        }
    }
}

/// Runs a service after some preparation.
private struct Prepared: Service {
    let service: any Service
    let preparation: @Sendable () async throws -> Void

    func run() async throws {
        try await preparation()
        try await service.run()
    }
}

/// Output for the user at the terminal; no request waits for it.
enum Progress {
    @Sendable static func say(_ text: String) { LogWriter.output.write(Data("\(text)\n".utf8)) }
}
