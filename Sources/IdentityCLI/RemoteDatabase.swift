import Foundation
import Secrets

/// Looks whether a connection string reaches another machine without TLS.
enum RemoteDatabase {
    /// The first host that is neither a socket nor loopback, when `sslmode` does not insist on TLS; nil otherwise.
    ///
    /// Reads the two forms of libpq (PostgreSQL, chapter 34.1.1): `key=value …` and `postgresql://…`.
    static func hostWithoutTLS(in conninfo: Secret) -> String? {
        let (hosts, mode) = parse(conninfo.reveal())
        if ["require", "verify-ca", "verify-full"].contains(mode) { return nil }
        return hosts.first { !isLocal($0) }
    }

    private static func isLocal(_ host: String) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "::1", "[::1]"].contains(host)
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    private static func parse(_ text: String) -> (hosts: [String], mode: String?) {
        var values: [String: String] = [:]
        var hosts: [String] = []
        if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            let rest = text[(text.range(of: "://")?.upperBound ?? text.startIndex)...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            let location = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            hosts = location.split(separator: ",").map { host(of: $0) }
            let query = rest.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            for pair in query.split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
                if parts.count == 2 { values[parts[0]] = parts[1] }
            }
        } else {
            for word in text.split(whereSeparator: \.isWhitespace) {
                let parts = word.split(separator: "=", maxSplits: 1).map { String($0) }
                if parts.count == 2 {
                    values[parts[0]] = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "'"))
                }
            }
        }
        for key in ["host", "hostaddr"] {
            if let more = values[key] { hosts += more.split(separator: ",").map { String($0) } }
        }
        return (hosts, values["sslmode"])
    }

    private static func host(of location: Substring) -> String {
        if location.hasPrefix("[") { return String(location.prefix { $0 != "]" }) + "]" }
        let host = String(location.prefix { $0 != ":" })
        return host.removingPercentEncoding ?? host
    }
}
