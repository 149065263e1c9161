import Development
import Foundation
import Postgres
import Secrets

/// The database of `docker-compose.yml`: over TCP, with a password, with the TLS that `docker/postgres-tls` turns on.
package enum ComposePostgres {
    /// The user `certain` needs a client certificate.
    ///
    /// - Parameter body: gets the address on which the server listens, at PostgreSQL's own port.
    package static func run<R>(
        folder: String,
        user: String,
        password: String,
        database: String,
        _ body: (String) async throws -> R
    ) async throws -> R {
        // The whole 127.0.0.0/8 is this computer, so the port is free whatever else runs here.
        let parts = RandomSource.system.bytes(3)
        let address = "127.\(64 + parts[0] % 128).\(parts[1]).\(1 + parts[2] % 250)"

        try await running(PrivateCluster(folder: folder, durable: false)) { client in
            // A statement of this kind takes no values; the server quotes the password itself.
            try await client.execute("SELECT set_config('compose.user', \(user), false)")
            try await client.execute("SELECT set_config('compose.password', \(password), false)")
            try await client.execute(
                """
                DO $$ BEGIN EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L',
                current_setting('compose.user'), current_setting('compose.password')); END $$
                """
            )
            try await client.execute("CREATE DATABASE \(identifier: database) OWNER \(identifier: user)")
        }
        try await makeCertificate(in: folder + "/data")
        let access = "local all all trust\nhostssl all certain all cert\nhostssl all all all scram-sha-256\n"
        try access.write(toFile: folder + "/data/pg_hba.conf", atomically: false, encoding: .utf8)
        let settings = ["listen_addresses": address, "ssl_ca_file": "server.crt"]
        return try await running(PrivateCluster(folder: folder, durable: false, settings: settings)) { _ in
            try await body(address)
        }
    }

    private static func running<R>(
        _ cluster: PrivateCluster,
        _ body: (PostgresClient) async throws -> R
    ) async throws -> R {
        try await cluster.start()
        let client = PostgresClient(quietly: .patient(cluster.conninfo ?? "", connections: 1))
        do {
            let result = try await body(client)
            await client.close()
            await cluster.stop()
            return result
        } catch {
            await client.close()
            await cluster.stop()
            throw error
        }
    }

    /// As the image does at its first start: as the server's user, with PGDATA.
    private static func makeCertificate(in data: String) async throws {
        let script = try String(
            contentsOf: IdentityProgram.repository.appending(path: "docker/postgres-tls"),
            encoding: .utf8
        )
        let user = getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        let result = try await Program.run(
            "/usr/bin/env",
            ["-C", "/"] + user + ["bash", "-c", script],
            environment: ["PGDATA": data]
        )
        guard result.status == 0 else { throw ProgramEnded(result: result) }
    }
}
