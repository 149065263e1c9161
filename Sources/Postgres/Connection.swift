import CLibPQ
import Foundation

/// One connection, used only by the thread that owns it.
final class Connection {
    let raw: OpaquePointer
    let cancelHandle: CancelHandle
    private let statements: PreparedStatements?
    /// How long to wait for a response; the server's own limit is shorter.
    private let answerTimeout: Duration?
    /// What precedes each statement and transaction of a connection whose session is not ours.
    private let localSettings: String?
    /// The settings of the connection string, which everyone who uses its pool has.
    private let sharedSettings: String?
    private(set) var isBroken = false
    let server: Server
    let since = ContinuousClock.now
    /// Asked while a statement has had no answer for a second: whether it will get none.
    var isAbandoned: (() -> Bool)?
    /// Whether a commit was not replicated to a synchronous standby.
    private let isUnreplicated: UnsafeMutablePointer<Bool>

    /// Connects; blocks for as long as the server takes.
    init(
        _ conninfo: Conninfo,
        _ server: Server,
        _ configuration: PostgresClient.Configuration
    ) throws(PostgresError) {
        let raw = server.withCStrings { PQconnectdbParams($0, $1, 0) }
        guard let raw else { throw PostgresError(.unavailable, reason: "out of memory") }
        guard PQstatus(raw) == CONNECTION_OK, let cancel = PQgetCancel(raw) else {
            var error = PostgresError(.unavailable)
            error.serverMessage = String(cString: PQerrorMessage(raw))
            PQfinish(raw)
            throw error
        }
        isUnreplicated = .allocate(capacity: 1)
        isUnreplicated.initialize(to: false)
        // Otherwise libpq prints notices on the standard error stream. One of them says that the wait for a synchronous
        // standby was cancelled: the commit may be lost with its server, and must not count as one.
        PQsetNoticeReceiver(
            raw,
            { flag, notice in
                // PG_DIAG_SOURCE_FUNCTION
                let function = PQresultErrorField(notice, Int32(UnicodeScalar("R").value)).map { String(cString: $0) }
                if function == "SyncRepWaitForLSN" { flag?.assumingMemoryBound(to: Bool.self).pointee = true }
            },
            isUnreplicated
        )
        self.raw = raw
        self.server = server
        cancelHandle = CancelHandle(cancel)
        statements = configuration.prepares ? PreparedStatements() : nil
        answerTimeout = configuration.statementTimeout.map { $0 + configuration.silence }
        localSettings = configuration.prepares ? nil : Conninfo.setting(conninfo.settings, isLocal: true)
        sharedSettings = conninfo.ownSettings.isEmpty ? nil : Conninfo.setting(conninfo.ownSettings, isLocal: false)
        guard configuration.prepares else { return }
        do throws(PostgresError) {
            try send { PQsendQuery(raw, Conninfo.setting(conninfo.settings, isLocal: false)) }
            _ = try receive(within: configuration.connectTimeout)
        } catch {
            var error = error
            error.wasConnected = error.code == .connectionLost
            error.code = .unavailable
            throw error
        }
    }

    deinit {
        PQfinish(raw)
        isUnreplicated.deallocate()
    }

    /// Whether the connection is open and outside a transaction.
    var isBetweenTransactions: Bool {
        !isBroken && PQstatus(raw) == CONNECTION_OK && PQtransactionStatus(raw) == PQTRANS_IDLE
    }

    /// Whether an idle connection can run a statement: it is open, outside a transaction, and the server sent nothing.
    ///
    /// A server that stopped or terminated our backend has sent or closed by now; then nothing is sent on it.
    var isUsable: Bool {
        guard isBetweenTransactions else { return false }
        var descriptor = pollfd(fd: PQsocket(raw), events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 0
    }

    /// Whether the server answers an empty statement in time; if not, the connection is broken.
    func responds(within limit: Duration) -> Bool {
        do throws(PostgresError) {
            try send { PQsendQuery(raw, "") }
            _ = try receive(within: limit)
            return true
        } catch {
            return false
        }
    }

    /// Runs one statement and passes its result on before freeing it.
    func run<R>(_ sql: SQL, _ body: (QueryResult) throws -> R) throws -> R {
        try body(try result(of: sql))
    }

    /// Runs a command without parameters, such as `BEGIN`.
    /// - Returns: its command tag.
    func command(_ text: StaticString) throws(PostgresError) -> String {
        try send { PQsendQuery(raw, text.description) }
        return try receive().commandTag
    }

    /// Begins a transaction.
    func begin(_ isolation: IsolationLevel) throws(PostgresError) {
        try send { PQsendQuery(raw, isolation.begin.description + (localSettings.map { "; \($0)" } ?? "")) }
        _ = try receive()
    }

    private func result(of sql: SQL) throws(PostgresError) -> QueryResult {
        guard !sql.parameters.isRefused else {
            throw PostgresError(.invalidParameter, reason: "a value that the server cannot hold")
        }
        guard sql.parameters.list.count <= Int(UInt16.max) else {
            throw PostgresError(.invalidParameter, reason: "too many values")
        }
        guard let statements else {
            guard let localSettings, PQtransactionStatus(raw) == PQTRANS_IDLE else { return try plainResult(of: sql) }
            do throws(PostgresError) {
                return try result(of: sql, after: localSettings)
            } catch  where error.sqlState == "25001" {
                // It runs only by itself, such as CREATE INDEX CONCURRENTLY. The server's session keeps what is set here, so
                // it is nothing that another user of the pool has otherwise.
                if let sharedSettings {
                    try send { PQsendQuery(raw, sharedSettings) }
                    _ = try receive()
                }
                return try plainResult(of: sql)
            }
        }
        if statements.isFull {
            _ = try command("DEALLOCATE ALL")
            statements.removeAll()
        }
        let known = statements.name(of: sql)
        let name: String
        if let known { name = known } else { name = try prepare(sql, in: statements) }
        do throws(PostgresError) {
            try send { sql.withCParameters { PQsendQueryPrepared(raw, name, $0, $2, $3, $4, 1) } }
            return try receive()
        } catch {
            // The cached plan has other result columns, because of a migration in between.
            guard known != nil, error.sqlState == "0A000" || error.sqlState == "26000" else { throw error }
            statements.remove(sql)
            guard PQtransactionStatus(raw) == PQTRANS_IDLE else {
                var error = error
                error.isStalePlan = true
                throw error
            }
            return try result(of: sql)
        }
    }

    private func plainResult(of sql: SQL) throws(PostgresError) -> QueryResult {
        try sendUnprepared(sql)
        return try receive()
    }

    private func sendUnprepared(_ sql: SQL) throws(PostgresError) {
        try send { sql.withCParameters { PQsendQueryParams(raw, sql.text, $0, $1, $2, $3, $4, 1) } }
    }

    /// Runs a statement after another one, in one transaction and one round trip (PostgreSQL, chapter 34.5).
    private func result(of sql: SQL, after first: String) throws(PostgresError) -> QueryResult {
        try send { PQenterPipelineMode(raw) }
        try send { PQsendQueryParams(raw, first, 0, nil, nil, nil, nil, 1) }
        try sendUnprepared(sql)
        try send { PQpipelineSync(raw) }
        let answer = Result { () throws(PostgresError) in try receive(isSecond: true) }
        guard !isBroken else { return try answer.get() }
        try send { PQexitPipelineMode(raw) }
        return try answer.get()
    }

    private func prepare(_ sql: SQL, in statements: PreparedStatements) throws(PostgresError) -> String {
        let name = statements.nextName
        try send {
            sql.withCParameters { count, types, _, _, _ in PQsendPrepare(raw, name, sql.text, count, types) }
        }
        _ = try receive()
        statements.insert(sql)
        return name
    }

    private func send(_ statement: () -> Int32) throws(PostgresError) {
        guard statement() == 1 else { throw lost() }
    }

    /// Waits for the whole response.
    ///
    /// - Parameters:
    ///   - isSecond: whether it is the response to the second of two statements, up to the end of their transaction.
    ///   - limit: instead of the usual one.
    private func receive(isSecond: Bool = false, within limit: Duration? = nil) throws(PostgresError) -> QueryResult {
        let deadline = (limit ?? answerTimeout).map { ContinuousClock.now + $0 }
        var answer: QueryResult?
        var hadSucceeded = false
        var ended = 0
        while true {
            while PQisBusy(raw) == 1 {
                try waitForData(until: deadline)
                // A server that ends a session says why before it closes the connection.
                guard PQconsumeInput(raw) == 1 else { throw lost(answer?.error ?? PostgresError(.connectionLost)) }
            }
            guard let next = PQgetResult(raw) else {
                ended += 1
                // Each statement's results end so; then comes that of the transaction.
                guard isSecond, ended <= 3, PQstatus(raw) == CONNECTION_OK else { break }
                continue
            }
            let result = QueryResult(next)
            guard !result.isEndOfPipeline else { break }
            guard !result.isSkipped, !isSecond || ended > 0 || result.isFailure else { continue }
            // Of several results, the first error counts, otherwise the last result.
            if answer?.isFailure != true {
                if answer != nil, result.isFailure { hadSucceeded = true }
                answer = result
            }
            // A copy never ends by itself, because nothing feeds it.
            if result.isCopy { throw lost(PostgresError(.server, reason: "COPY is not supported")) }
        }
        guard let answer else { throw lost() }
        if isUnreplicated.pointee {
            throw lost(PostgresError(.connectionLost, reason: "the commit was not replicated"))
        }
        guard var error = answer.error else { return answer }
        error.mayHaveRun = hadSucceeded
        if PQstatus(raw) != CONNECTION_OK || error.code == .connectionLost { throw lost(error) }
        throw error
    }

    private func waitForData(until deadline: ContinuousClock.Instant?) throws(PostgresError) {
        let began = ContinuousClock.now
        var descriptor = pollfd(fd: PQsocket(raw), events: Int16(POLLIN), revents: 0)
        while true {
            let now = ContinuousClock.now
            // Unlike after a server-side timeout, this statement may have run, or may still run.
            if let deadline, now >= deadline {
                throw lost(PostgresError(.connectionLost, reason: "the server did not respond"))
            }
            if let isAbandoned, now - began >= Self.quiet, isAbandoned() {
                throw lost(PostgresError(.connectionLost, reason: "the server was given up"))
            }
            // An answer that has come meanwhile ends the wait.
            let pause = isAbandoned == nil ? nil : now - began < Self.quiet ? Self.quiet : .milliseconds(250)
            let rest = [deadline.map { now.duration(to: $0) }, pause].compactMap(\.self).min()
            let count = poll(&descriptor, 1, rest.map { Int32(clamping: $0.milliseconds) } ?? -1)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw lost() }
        }
    }

    /// How long a server may take for an answer before there is a look at what it does.
    static let quiet = Duration.seconds(1)

    /// Marks the connection as broken.
    private func lost(_ error: PostgresError = PostgresError(.connectionLost)) -> PostgresError {
        isBroken = true
        var error = error
        if error.serverMessage == nil { error.serverMessage = String(cString: PQerrorMessage(raw)) }
        return error
    }
}
