import Foundation
import Migrations
import Postgres

/// The PostgreSQL server of the environment's `DATABASE_URL`, with a template that is migrated once in this process.
actor TestServer {
    static let shared = TestServer()

    /// `DATABASE_ENGINE`: what `DATABASE_URL` names; PostgreSQL without.
    ///
    /// A misspelt one ends the run: its tests would say nothing of the server that was meant.
    static let engine: DatabaseEngine = {
        let name = ProcessInfo.processInfo.environment["DATABASE_ENGINE"] ?? DatabaseEngine.postgresql.rawValue
        guard let engine = DatabaseEngine(rawValue: name) else { fatalError("DATABASE_ENGINE is neither engine") }
        return engine
    }()

    private enum Template {
        case none
        case making([CheckedContinuation<String, any Error>])
        case made(String)
    }

    private var template = Template.none
    private var admin: PostgresClient?

    struct Missing: Error, CustomStringConvertible {
        let description = "DATABASE_URL is not set: run the tests under scripts/with-postgres"
    }

    /// - Returns: the name of a new database, and how to connect to it.
    func makeDatabase() async throws -> (name: String, conninfo: String) {
        let template = try await templateName()
        let name = Self.name("test")
        Started.count(.database)
        try await client().execute("CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: template)")
        return (name, try conninfo(name))
    }

    /// The same without a schema.
    func makeEmptyDatabase() async throws -> (name: String, conninfo: String) {
        let name = Self.name("test")
        try await client().execute("CREATE DATABASE \(identifier: name)")
        return (name, try conninfo(name))
    }

    func dropDatabase(_ name: String) async throws {
        // A test may have left a program that is still connected.
        try await client().execute("DROP DATABASE \(identifier: name) WITH (FORCE)")
    }

    private func templateName() async throws -> String {
        switch template {
        case .made(let name): return name
        case .making(let waiting):
            return try await withCheckedThrowingContinuation { template = .making(waiting + [$0]) }
        case .none: break
        }
        template = .making([])
        do {
            let name = try await makeTemplate()
            finish(.made(name), .success(name))
            return name
        } catch {
            // The next suite tries again and tells the same.
            finish(.none, .failure(error))
            throw error
        }
    }

    private func finish(_ next: Template, _ outcome: Result<String, any Error>) {
        guard case .making(let waiting) = template else { return }
        template = next
        for continuation in waiting { continuation.resume(with: outcome) }
    }

    private func makeTemplate() async throws -> String {
        try await dropLeftovers()
        let name = Self.name("template")
        try await client().execute("CREATE DATABASE \(identifier: name)")
        let client = PostgresClient(quietly: .migrating(try conninfo(name), engine: Self.engine))
        do {
            if Self.engine == .citus { try await client.execute("CREATE EXTENSION citus") }
            try await Migrator(client).migrate()
            if Self.engine == .citus { try await Distribution(client).spread() }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        guard Self.engine == .citus else { return name }
        // A template must have no open connections, and Citus keeps one to each database.
        try await self.client().execute("ALTER DATABASE \(identifier: name) ALLOW_CONNECTIONS false")
        try await self.client().execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = \(name)"
        )
        return name
    }

    /// Drops what earlier runs on a server that stays have left: their template, and databases after a crash.
    private func dropLeftovers() async throws {
        let names: [String] = try await client().query(
            "SELECT datname::text FROM pg_database WHERE datname ~ '^identity_(test|template)_[0-9]+_[0-9]+$'"
        ) { try $0.next() }
        let hourAgo = Int(Date().timeIntervalSince1970) - 3600
        for name in names where (name.split(separator: "_").dropFirst(2).first.flatMap { Int($0) } ?? .max) < hourAgo {
            // Another run may be dropping the same.
            _ = try? await client().execute("DROP DATABASE \(identifier: name)")
        }
    }

    private func client() throws -> PostgresClient {
        if let admin { return admin }
        let client = PostgresClient(quietly: .patient(try serverConninfo(), connections: 4))
        admin = client
        return client
    }

    private func conninfo(_ database: String) throws -> String {
        try ConnectionString.replacingDatabase(in: serverConninfo(), with: database)
    }

    private func serverConninfo() throws -> String {
        guard let conninfo = ProcessInfo.processInfo.environment["DATABASE_URL"], !conninfo.isEmpty else {
            throw Missing()
        }
        return conninfo
    }

    private static func name(_ kind: String) -> String {
        "identity_\(kind)_\(Int(Date().timeIntervalSince1970))_\(UInt64.random(in: 0...UInt64(Int64.max)))"
    }
}
