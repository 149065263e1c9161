extension PostgresClient {
    package struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
        /// A libpq connection string or URI, passed on unchanged: TLS, several hosts, `target_session_attrs`.
        package var conninfo: String
        package var engine: DatabaseEngine
        /// The maximum number of connections, each with its thread; they are opened when needed.
        package var connections: Int
        /// Off for a pooler, such as PgBouncer with transaction pooling: statements are then parsed each time, and nothing is
        /// expected to outlast a transaction, the settings of the session included.
        package var prepares: Bool
        /// The server's limit for one statement, nil for none.
        package var statementTimeout: Duration?
        /// How much longer a server may be silent before its connection is closed.
        package var silence: Duration
        package var lockTimeout: Duration?
        /// How long to wait for one host to accept a connection; libpq uses whole seconds, at least two.
        package var connectTimeout: Duration
        /// The maximum number of statements and transactions waiting for a connection.
        package var queueLimit: Int
        /// How long a transaction may be idle before it is rolled back and its connection freed.
        package var transactionIdleTimeout: Duration
        /// How long after the loss of its server the client waits for another one before statements fail: a failover takes
        /// seconds.
        ///
        /// If it is not zero, the client also leaves servers that refuse writes, and runs a statement or transaction again
        /// that a stopping server has surely not run.
        package var patience: Duration

        package init(
            conninfo: String,
            engine: DatabaseEngine = .postgresql,
            connections: Int = 8,
            prepares: Bool = true,
            statementTimeout: Duration? = .seconds(10),
            silence: Duration = .seconds(5),
            lockTimeout: Duration? = .seconds(5),
            connectTimeout: Duration = .seconds(5),
            queueLimit: Int = 1024,
            transactionIdleTimeout: Duration = .seconds(15),
            patience: Duration = .zero
        ) {
            precondition(connections > 0 && queueLimit > 0, "a client without connections or queue does nothing")
            self.conninfo = conninfo
            self.engine = engine
            self.connections = connections
            self.prepares = prepares
            self.statementTimeout = statementTimeout
            self.silence = silence
            self.lockTimeout = lockTimeout
            self.connectTimeout = connectTimeout
            self.queueLimit = queueLimit
            self.transactionIdleTimeout = transactionIdleTimeout
            self.patience = patience
        }

        /// Without the connection string, which may contain a password.
        package var description: String { "\(connections) connections, \(prepares ? "prepared" : "unprepared")" }
        package var customMirror: Mirror { Mirror(self, children: ["connections": connections]) }
    }
}
