import ArgumentParser
import Logging
import Migrations
import Postgres
import Secrets
import Storage

extension DatabaseEngine: ExpressibleByArgument {}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database's schema up to date.",
        discussion: "Several runs at the same time are safe; a migration that fails changes nothing."
    )

    @Option(help: "A YAML configuration file.")
    var config: String?

    @Flag(help: "Print the migrations that would be applied, and change nothing.")
    var dryRun = false

    @Option(help: "Spread the tables over the machines of a Citus cluster (citus).")
    var distribute: DatabaseEngine?

    func validate() throws {
        guard distribute != .postgresql else { throw ValidationError("--distribute takes citus") }
        guard distribute == nil || !dryRun else {
            throw ValidationError("--distribute changes what --dry-run must not")
        }
    }

    func run() async throws {
        let configuration = try await ServiceConfiguration.load(file: config)
        var logger = Logger(label: "identity") { _ in ReadableLogHandler() }
        logger.logLevel = .error
        let client = try configuration.database.client(for: .migrations, logger)
        do {
            let migrator = Migrator(client)
            if dryRun {
                let steps = try await migrator.plan()
                print(
                    steps.isEmpty
                        ? "the schema is up to date" : steps.map { "would apply \($0.name)" }.joined(separator: "\n")
                )
            } else {
                let applied = try await migrator.migrate()
                print(
                    applied.isEmpty
                        ? "the schema is up to date" : applied.map { "applied \($0)" }.joined(separator: "\n")
                )
                try await configuration.auditLogPartitions(logger).keep(client)
                // A release may bring tables to a database whose others are spread.
                let isSpread = try await Distribution.isSpread(client)
                if isSpread || distribute == .citus {
                    for table in try await Distribution(client).spread() { print("spread \(table)") }
                }
            }
            await client.close()
        } catch {
            await client.close()
            throw readable(error)
        }
    }
}
