import Postgres
import Secrets

/// Checks whether a connection string connects to another machine without TLS.
enum RemoteDatabase {
    /// The first host that is neither a socket nor loopback, if TLS is not required; otherwise nil.
    ///
    /// libpq takes omitted values from the environment (PostgreSQL, chapter 34.15), so that is read too. A service file
    /// may name any host, so it counts as one.
    ///
    /// - Throws: ``PostgresError`` for a string that libpq cannot parse.
    static func hostWithoutTLS(in conninfo: Secret, environment: [String: String]) throws(PostgresError) -> String? {
        var values: [String: String] = [:]
        for (keyword, name) in [
            ("host", "PGHOST"), ("hostaddr", "PGHOSTADDR"), ("sslmode", "PGSSLMODE"), ("service", "PGSERVICE"),
        ] {
            values[keyword] = environment[name]
        }
        for (keyword, value) in try ConnectionString.parse(conninfo.reveal()) { values[keyword] = value }
        if let mode = values["sslmode"], ["require", "verify-ca", "verify-full"].contains(mode) { return nil }
        if let service = values["service"] { return "the service \(service)" }
        let hosts = ["host", "hostaddr"].flatMap { values[$0]?.split(separator: ",") ?? [] }
        return hosts.first { !isLocal($0) }.map { String($0) }
    }

    private static func isLocal(_ host: Substring) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "::1"].contains(host)
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
