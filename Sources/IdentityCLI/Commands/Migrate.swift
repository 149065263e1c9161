import ArgumentParser
import Logging
import Migrations
import Postgres
import Secrets
import Storage

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database's schema up to date.",
        discussion: "Several runs at the same time are safe; a migration that fails changes nothing."
    )

    @Option(help: "A YAML configuration file.")
    var config: String?

    @Flag(help: "Print the migrations that would be applied, and change nothing.")
    var dryRun = false

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
            }
            await client.close()
        } catch {
            await client.close()
            throw readable(error)
        }
    }
}
