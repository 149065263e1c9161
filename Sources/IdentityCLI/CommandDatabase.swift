import Accounts
import Administration
import ArgumentParser
import Domain
import Federation
import Foundation
import IdentityService
import Logging
import Migrations
import Outbound
import Passwords
import Postgres
import Projects
import Requests
import Secrets
import Storage

/// The database of a command: from the configuration, or with `--data` that of an `identity dev`.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "A YAML configuration file.")
    var config: String?

    @Option(help: "The data folder of a running `identity dev`.")
    var data: String?

    /// Opens the database, runs `body`, closes it.
    ///
    /// - Parameter loads: whether to read the configuration first, which requires all of its encryption keys.
    func withStores<R>(loads: Bool = true, _ body: (Stores) async throws -> R) async throws -> R {
        let (settings, keyRing) = try await target()
        var logger = Logger(label: "identity") { _ in ReadableLogHandler() }
        logger.logLevel = .critical  // what goes wrong comes back as an error
        let client = try settings.client(for: .command, logger)
        let stores = Stores(database: client, keyRing: keyRing, logger: logger, now: { Date() })
        do {
            if loads { try await stores.configuration.load() }
            let result = try await RequestContext.with({ $0.origin = .command }) { try await body(stores) }
            await client.close()
            return result
        } catch {
            await client.close()
            throw readable(error)
        }
    }

    /// Renews the planner's statistics of a database that a command has filled.
    ///
    /// The tables' owner may; otherwise autovacuum does it within a minute or two.
    func renewStatistics(of stores: Stores) async {
        _ = try? await statistics(of: stores).renew()
    }

    /// With the role that migrates.
    func statistics(of stores: Stores) async throws -> TableStatistics {
        let logger = Logger(label: "identity") { _ in SwiftLogNoOpLogHandler() }
        let (settings, _) = try await target()
        return TableStatistics(of: stores, logger: logger, connect: try settings.connect(for: .statistics, logger))
    }

    /// The same with the use cases of accounts; none of them calls another host here.
    func withAccounts(_ body: (Stores, AccountsService) async throws -> Void) async throws {
        try await withStores { stores in
            let outbound = OutboundClient(allowsLoopback: false)
            let passwords = PasswordHasher(workers: System.coreCount, queueLimit: 256)
            let accounts = AccountsService(
                stores: stores,
                federation: FederationService(http: outbound, now: { Date() }),
                passwords: passwords,
                deployment: Deployment(publicURL: nil),
                now: { Date() }
            )
            func close() async {
                await outbound.shutdown()
                await passwords.shutdown()
            }
            do { try await body(stores, accounts) } catch {
                await close()
                throw error
            }
            await close()
        }
    }

    /// The same with the use cases of configuration.
    func withAdministration(
        allowsLoopback: Bool = false,
        _ body: (Stores, AdministrationService) async throws -> Void
    ) async throws {
        try await withStores { stores in
            try await body(stores, AdministrationService(stores: stores, allowsLoopback: allowsLoopback))
        }
    }

    /// `http.publicURL` of the configuration; nil if it is not set, and for the database of an `identity dev`.
    func publicURL() async throws -> PublicURL? {
        guard data == nil else { return nil }
        return try await ServiceConfiguration.load(file: config).publicURL.map { PublicURL($0) }
    }

    /// Whether the service may call this machine: `outbound.allow` of the configuration; an `identity dev` may.
    func allowsLoopback() async throws -> Bool {
        guard data == nil else { return true }
        return try await ServiceConfiguration.load(file: config).outbound.allowsLoopback
    }

    private func target() async throws -> (settings: DatabaseSettings, keyRing: KeyRing) {
        if let data {
            let folder = DataFolder(path: data)
            guard let conninfo = folder.conninfo else {
                throw CommandFailure.configuration("\(data) is not the data folder of an `identity dev`")
            }
            return (DatabaseSettings(ofDevelopment: conninfo), try folder.keyRing())
        }
        let configuration = try await ServiceConfiguration.load(file: config)
        let keyRing = try await configuration.keyRing()
        return (configuration.database, keyRing)
    }
}

extension AuditOrigin {
    /// The running command, without its options and their values.
    fileprivate static var command: AuditOrigin {
        let words = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }.prefix(2)
        return AuditOrigin(
            actor: .command(NSUserName()),
            operation: "identity \(words.joined(separator: " "))"
        )
    }
}

/// The project or tenant of a command.
struct ScopeOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The project; optional if there is only one.") var project: String?
    @OptionGroup var tenant: TenantOption

    /// Runs `body` with the project or tenant.
    func withProject(_ body: (Stores, Project) async throws -> Void) async throws {
        try await database.withStores { stores in
            try await body(stores, try tenant.enter(try named(stores)))
        }
    }

    /// The same, with the use cases over the stores.
    func withAccounts(_ body: (AccountsService, Project) async throws -> Void) async throws {
        try await database.withAccounts { stores, accounts in
            try await body(accounts, try tenant.enter(try named(stores)))
        }
    }

    private func named(_ stores: Stores) throws -> Project {
        if let project { return try stores.project(project) }
        let all = stores.configuration.snapshot.allProjects
        guard all.count == 1, let only = all.first else {
            throw CommandFailure.usage("select a project with --project")
        }
        return only
    }
}

/// The tenant of a command.
struct TenantOption: ParsableArguments {
    @Option(help: "A tenant of the project; selects its accounts instead of the project's own.")
    var tenant: String?

    /// - Returns: the tenant, if one is named.
    func enter(_ project: Project) throws -> Project {
        guard let tenant else { return project }
        guard let found = project.tenants[TenantID(rawValue: tenant)] else {
            throw CommandFailure.failed("project '\(project.id)' has no tenant '\(tenant)'")
        }
        return found.project
    }
}

/// Converts an error of the lower modules to a message.
func readable(_ error: any Error) -> any Error {
    switch error {
    case let error as PostgresError:
        if error.sqlState == "42P01" {
            return CommandFailure.configuration("the database has no schema yet: run `identity migrate`")
        }
        if error.sqlState == "42703" {
            return CommandFailure.configuration(
                "the database's schema is older than this release: run `identity migrate`"
            )
        }
        if error.sqlState == "42501" { return CommandFailure.configuration(error.explanation) }
        return error.isTemporary ? CommandFailure.unavailable(error.explanation) : .failed(error.explanation)
    case MigrationError.failed(_, let cause) where cause.isTemporary: return CommandFailure.unavailable("\(error)")
    case MigrationError.locked: return CommandFailure.unavailable("\(error)")
    case is MigrationError: return CommandFailure.configuration("\(error)")
    case KeyRingError.unknownKey(let id): return CommandFailure.missingKeys([id])
    case is KeyRingError:
        return CommandFailure.configuration("encryption.keys do not match this database")
    case AdministrationError.invalid(let text): return CommandFailure.usage(text)
    case let error as HTTPServer.Address.Unusable: return CommandFailure(error, "")
    default: return error
    }
}

extension ConfigurationError {
    /// Runs an operation that may fail with this error, which the command explains.
    func explained(as message: String, _ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as ConfigurationError where error == self {
            throw CommandFailure.failed(message)
        }
    }
}

extension Stores {
    /// The project that a command names.
    func project(_ text: String) throws -> Project {
        guard let project = configuration.snapshot.project(try ProjectID(named: text)) else {
            throw CommandFailure.failed("project '\(text)' does not exist")
        }
        return project
    }
}

extension ProjectID {
    init(named text: String) throws {
        guard let id = ProjectID(rawValue: text) else {
            throw CommandFailure.usage("'\(text)' is not a project ID: 6 to 30 of a-z, 0-9 and -, first a letter")
        }
        self = id
    }
}
