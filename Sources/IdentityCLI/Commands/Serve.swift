import Accounts
import ArgumentParser
import Delivery
import Foundation
import IdentityService
import Logging
import Migrations
import Postgres
import Projects
import SMTPClient
import Secrets
import ServiceLifecycle
import Storage

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Reads the configuration from --config and the environment (IDENTITY_DATABASE_URL, IDENTITY_ENCRYPTION_KEYS, \
            …; see docs/reference/configuration.md). Requires a database that `identity migrate` has migrated.
            """
    )

    @Option(help: "A YAML configuration file.")
    var config: String?

    func run() async throws {
        let configuration = try await ServiceConfiguration.load(file: config)
        guard let proxies = TrustedProxies(configuration.trustedProxies) else {
            throw CommandFailure.configuration("http.trustedProxies must contain addresses or networks")
        }
        let keyRing = try await configuration.keyRing()
        let logger = configuration.makeLogger()
        let connect = try configuration.database.connect(for: .service, logger)
        let auditLogPartitions = try configuration.auditLogPartitions(logger)
        let connectForStatistics = try configuration.database.connect(for: .statistics, logger)
        let tls = try configuration.serverTLS(logger)
        for (key, address) in configuration.addresses { try CommandFailure.require(address, ": see \(key)") }
        let database = connect()
        let stores = Stores(
            database: database,
            keyRing: keyRing,
            logger: logger,
            batches: configuration.batches,
            now: { Date() }
        )
        do {
            try await prepare(stores, configuration.database.engine)
            // It also works with fewer connections while the database has no more; a pooler has its own.
            if configuration.database.prepares { try? await stores.warmUp() }
        } catch {
            await database.close()
            throw readable(error)
        }
        let smtp = configuration.mail.map { SMTPClient($0.server) }
        var accounts = AccountsService.Options()
        accounts.deploymentLimits = configuration.limits
        if let mail = configuration.mail, let smtp { accounts.mailer = Mailer(from: mail.sender, through: smtp) }
        let node = Node(
            stores,
            accounts,
            deployment: Deployment(publicURL: configuration.publicURL),
            leakedPasswords: configuration.leakedPasswords,
            outbound: configuration.outbound,
            authorities: configuration.authorities
        )
        var options = ServiceAssembly.Options()
        options.limits.proxies = proxies
        options.droppedLogLines = { LogWriter.droppedLines }
        options.migrationsAreCurrent = { try await Migrator($0).hasAll() }
        let assembly = ServiceAssembly(node.accounts, options, logger: logger)
        var others: [any Service] = [
            auditLogPartitions, TableStatistics(of: stores, logger: logger, connect: connectForStatistics),
        ]
        if let smtp { others.append(smtp) }
        if let tls { others.append(tls) }
        do {
            try await node.run(
                assembly,
                with: others,
                servers(for: assembly, configuration, tls, logger),
                rotationDays: configuration.rotationDays,
                logger: logger
            )
        } catch {
            throw readable(error)
        }
        logger.notice("Stopped")
    }

    private func servers(
        for assembly: ServiceAssembly,
        _ configuration: ServiceConfiguration,
        _ tls: ServerTLS?,
        _ logger: Logger
    ) -> [any Service] {
        let service = HTTPServer(
            responder: assembly.responder,
            address: HTTPServer.Address(host: configuration.host, port: configuration.port),
            tls: tls,
            onRunning: { port in logger.notice("Serving", metadata: ["http.port": "\(port)"]) }
        )
        guard let (host, port) = configuration.operations else { return [service] }
        let operations = HTTPServer(
            responder: assembly.operations,
            address: HTTPServer.Address(host: host, port: port),
            onRunning: { port in logger.notice("Serving metrics", metadata: ["http.port": "\(port)"]) }
        )
        return [service, operations]
    }

    /// Refuses a database with another schema version or of another engine, or one that `identity dev` created.
    private func prepare(_ stores: Stores, _ engine: DatabaseEngine) async throws {
        do {
            guard try await Migrator(stores.database).plan().isEmpty else {
                throw CommandFailure.configuration(
                    "the database's schema is older than this release: run `identity migrate`"
                )
            }
        } catch let error as MigrationError {
            throw CommandFailure.configuration("\(error)")
        }
        guard try await Distribution.isSpread(stores.database) == (engine == .citus) else {
            throw CommandFailure.configuration(
                engine == .citus
                    ? "the database's tables are not spread: run `identity migrate --distribute citus`"
                    : "the database's tables are spread over machines: set database.engine to citus"
            )
        }
        guard try await stores.configuration.mode() == .serve else {
            throw CommandFailure.configuration("the database was created by `identity dev`")
        }
        let missing = try await stores.sealed.missingKeys()
        guard missing.isEmpty else { throw CommandFailure.missingKeys(missing) }
        try await stores.configuration.ensureSigningKeys()
    }
}

extension ServiceConfiguration {
    /// Where the node listens, and the settings that say so.
    fileprivate var addresses: [(key: String, address: HTTPServer.Address)] {
        let service = ("http.bind", HTTPServer.Address(host: host, port: port))
        return [service] + (operations.map { [("metrics.bind", .init(host: $0.host, port: $0.port))] } ?? [])
    }
}

enum System {
    static var coreCount: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }
}
