import Foundation
import Logging
import Migrations
import Postgres
import Secrets

/// How this process connects to its database: no other code here makes a client.
struct DatabaseSettings: Sendable {
    /// `database.url` (required, secret): a libpq connection string or URI, several hosts included.
    var url: Secret
    /// `database.migrationURL` (secret): the role that owns the schema; default `database.url`.
    var migrationURL: Secret
    /// `database.engine` (`postgresql` or `citus`, default `postgresql`).
    var engine = DatabaseEngine.postgresql
    /// `database.connections` (1…256, default 8).
    var connections = 8
    /// `database.prepares` (default true): off for poolers that do not support prepared statements.
    var prepares = true

    /// What a client is for.
    enum Purpose: Sendable {
        /// A node's requests, which wait for another primary.
        case service
        /// A node of `identity dev`.
        case development
        /// A command.
        case command
        /// A short task of the schema's owner.
        case owner
        /// The planner's statistics, as the schema's owner.
        case statistics
        case migrations

        /// Whether it connects with `database.migrationURL`.
        var isOwner: Bool {
            switch self {
            case .owner, .statistics, .migrations: true
            case .service, .development, .command: false
            }
        }
    }

    /// The database of an `identity dev`, which everything uses as its owner.
    init(ofDevelopment conninfo: String) { self.init(url: Secret(conninfo), migrationURL: Secret(conninfo)) }

    init(
        url: Secret,
        migrationURL: Secret,
        engine: DatabaseEngine = .postgresql,
        connections: Int = 8,
        prepares: Bool = true
    ) {
        (self.url, self.migrationURL, self.engine) = (url, migrationURL, engine)
        (self.connections, self.prepares) = (connections, prepares)
    }

    /// - Throws: ``CommandFailure`` for a remote database without TLS.
    func client(for purpose: Purpose, _ logger: Logger) throws -> PostgresClient {
        try connect(for: purpose, logger)()
    }

    /// Makes a client with each call.
    ///
    /// - Throws: ``CommandFailure`` for a remote database without TLS.
    func connect(for purpose: Purpose, _ logger: Logger) throws -> @Sendable () -> PostgresClient {
        let (key, conninfo) = purpose.isOwner ? ("database.migrationURL", migrationURL) : ("database.url", url)
        try Self.check(key, conninfo)
        let configuration = configuration(for: purpose, conninfo.reveal())
        return { PostgresClient(configuration, logger: logger) }
    }

    private func configuration(for purpose: Purpose, _ conninfo: String) -> PostgresClient.Configuration {
        var configuration = PostgresClient.Configuration(
            conninfo: conninfo,
            engine: engine,
            connections: 1,
            prepares: prepares
        )
        switch purpose {
        case .service:
            configuration.connections = connections
            configuration.connectTimeout = .seconds(2)
            configuration.patience = .seconds(25)
        case .development: configuration.connections = connections
        case .command, .owner: break
        case .statistics: configuration.statementTimeout = .seconds(60)
        case .migrations:
            configuration = .migrating(conninfo, engine: engine)
            configuration.prepares = prepares
        }
        return configuration
    }

    private static func check(_ key: String, _ conninfo: Secret) throws {
        let environment = ProcessInfo.processInfo.environment
        let remote: String?
        do {
            remote = try RemoteDatabase.hostWithoutTLS(in: conninfo, environment: environment)
        } catch {
            throw CommandFailure.configuration("\(key) is not a valid libpq connection string")
        }
        guard let remote else { return }
        throw CommandFailure.configuration(
            "\(key) connects to \(remote) without TLS: add sslmode=verify-full, or at least require"
        )
    }
}
