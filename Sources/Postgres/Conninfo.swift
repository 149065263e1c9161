/// A connection string parsed by libpq, with this client's settings added.
struct Conninfo: Sendable {
    /// The servers of the string in their order; one for all of them if libpq chooses among them by other rules.
    let servers: [Server]
    /// The server's settings for our statements; the last of two counts.
    ///
    /// They are set by statements: a pooler ignores the `options` of a connection, or refuses them.
    let settings: [(name: String, value: String)]
    /// Those of the connection string.
    let ownSettings: [(name: String, value: String)]

    /// - Throws: ``PostgresError`` with the code `unavailable` for a string that libpq can't read.
    init(_ configuration: PostgresClient.Configuration) throws(PostgresError) {
        var given = try ConnectionString.parse(configuration.conninfo)
        let hosts = Server.count(in: given)
        for (keyword, value) in Self.defaults(configuration, hosts: hosts)
        where !given.contains(where: { $0.keyword == keyword }) {
            given.append((keyword, value))
        }
        // Ours first, so the string takes precedence.
        let options = given.first { $0.keyword == "options" }.map { ServerOptions($0.value) }
        ownSettings = options?.settings ?? []
        settings = Self.settings(configuration) + ownSettings
        given.removeAll { $0.keyword == "options" || $0.keyword == "client_encoding" }
        if let others = options?.others { given.append(("options", others)) }
        given.append(("client_encoding", "UTF8"))
        servers = Server.split(given, into: hosts)
    }

    /// The statement that sets these, for the transaction or for the session.
    static func setting(_ settings: [(name: String, value: String)], isLocal: Bool) -> String {
        func literal(_ text: String) -> String {
            let quote = UInt8(ascii: "'")
            return String(
                decoding: [quote] + text.utf8.flatMap { $0 == quote ? [$0, $0] : [$0] } + [quote],
                as: UTF8.self
            )
        }
        let calls = settings.map { "set_config(\(literal($0.name)), \(literal($0.value)), \(isLocal))" }
        return "SELECT \(calls.joined(separator: ", "))"
    }

    private static func defaults(_ configuration: PostgresClient.Configuration, hosts: Int) -> [(String, String)] {
        // Of several hosts, all but one are standbys.
        let isWriting = configuration.patience > .zero || hosts > 1
        let writable = isWriting ? [("target_session_attrs", "read-write")] : []
        return writable + [
            ("connect_timeout", "\(max(2, configuration.connectTimeout.components.seconds))"),
            ("fallback_application_name", "identity"),
            // A host that disappears is noticed within two or three seconds, also while it owes an answer.
            ("keepalives_idle", "1"),
            ("keepalives_interval", "1"),
            ("keepalives_count", "2"),
            ("tcp_user_timeout", "2000"),
        ]
    }

    private static func settings(_ configuration: PostgresClient.Configuration) -> [(String, String)] {
        // The client's own limit is shorter; the server's is for a client that died.
        let idle = configuration.transactionIdleTimeout + .seconds(10)
        // Statements are prepared and find rows by key, so planning them again for each value would cost more than
        // running them; but Citus finds the machine by the values. They are planned while tables are small or empty: reading one of those whole seems cheapest then,
        // and would not be for long. Remembering what a key led to costs more than finding it again.
        return [
            ("jit", "off"),
            ("plan_cache_mode", configuration.engine == .citus ? "force_custom_plan" : "force_generic_plan"),
            ("enable_seqscan", "off"), ("enable_memoize", "off"),
            ("statement_timeout", "\(configuration.statementTimeout?.milliseconds ?? 0)"),
            ("lock_timeout", "\(configuration.lockTimeout?.milliseconds ?? 0)"),
            ("idle_in_transaction_session_timeout", "\(idle.milliseconds)"),
        ]
    }
}

extension Duration {
    /// Whole milliseconds, at least one, because the server treats 0 as no limit.
    var milliseconds: Int64 {
        max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
