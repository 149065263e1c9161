import Foundation
import Postgres

/// A PgBouncer in front of the tests' PostgreSQL, with a socket of its own.
package enum PgBouncer {
    /// - Parameters:
    ///   - mode: `session` or `transaction`.
    ///   - password: of every user; default: none is asked for.
    ///   - body: with a connection string for the same database through it.
    package static func with<R>(
        mode: String,
        before conninfo: String,
        password: String? = nil,
        _ body: (String) async throws -> R
    ) async throws -> R {
        var values = Dictionary(
            uniqueKeysWithValues: try ConnectionString.parse(conninfo).map { ($0.keyword, $0.value) }
        )
        return try await withTemporaryFolder { folder in
            // PgBouncer refuses to run as root, and its user writes the socket.
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let settings = """
                [databases]
                * = host=\(values["host"] ?? "") port=\(values["port"] ?? "5432") user=\(values["user"] ?? "postgres")
                [pgbouncer]
                listen_port = 6432
                unix_socket_dir = \(folder)
                auth_type = \(password == nil ? "any" : "plain")
                auth_file = \(folder)/users
                pool_mode = \(mode)
                default_pool_size = \(mode == "session" ? 20 : 3)
                ; A server that is slow to take a connection (15 s of its own) would refuse all clients for the next 15.
                server_connect_timeout = \(Patience.limit.components.seconds)
                server_login_retry = 0
                client_login_timeout = \(Patience.limit.components.seconds)
                query_wait_timeout = \(Patience.limit.components.seconds)
                """
            let users = "\"\(values["user"] ?? "postgres")\" \"\(password ?? "")\"\n"
            try users.write(toFile: "\(folder)/users", atomically: true, encoding: .utf8)
            try settings.write(toFile: "\(folder)/pgbouncer.ini", atomically: true, encoding: .utf8)
            let user = getuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
            let command = ["--pdeathsig", "TERM"] + user + ["--", "/usr/sbin/pgbouncer", "\(folder)/pgbouncer.ini"]
            return try await Program.with("/usr/bin/setpriv", command) { _ in
                try await waitUntil { FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.6432") }
                (values["host"], values["port"]) = (folder, "6432")
                return try await body(values.map { "\($0.key)='\($0.value)'" }.joined(separator: " "))
            }
        }
    }
}
