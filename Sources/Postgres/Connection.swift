import CLibPQ
import Foundation

/// One connection, used only by the thread that owns it.
final class Connection {
    let raw: OpaquePointer
    let cancelHandle: CancelHandle
    private let statements: PreparedStatements?
    /// How long to wait for a response; the server's own limit is shorter.
    private let answerTimeout: Duration?
    private let lockTimeout: Duration
    /// What precedes each statement and transaction of a connection whose session is not ours.
    private let localSettings: String?
    private let isDistributed: Bool
    /// The settings of the connection string, which everyone who uses its pool has.
    private let sharedSettings: String?
    private(set) var isBroken = false
    let server: Server
    let since = ContinuousClock.now
    /// Asked while a statement has had no answer for a second: whether it will get none.
    var isAbandoned: (() -> Bool)?
    /// Told of each wait for the server, but for those that prepare a statement or ask whether it is there.
    var countRoundTrip: (() -> Void)?
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
        isDistributed = configuration.engine == .citus
        answerTimeout = configuration.statementTimeout.map { $0 + configuration.silence }
        lockTimeout = configuration.lockTimeout ?? .zero
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
            _ = try answer(within: limit)
            return true
        } catch {
            return false
        }
    }

    /// Runs one statement and passes its result on before freeing it.
    func run<R>(_ sql: SQL, _ body: (QueryResult) throws -> R) throws -> R {
        try body(try result(of: sql))
    }

    /// Runs statements of a transaction, as many as possible in one round trip, each only if those before it succeeded, and
    /// passes on the result of the last.
    func run<R>(_ writes: [Write], then sql: SQL, _ body: (QueryResult) throws -> R) throws -> R {
        guard !writes.isEmpty else { return try run(sql, body) }
        // The server may answer none before it has run all that was sent together, and there is a limit for an answer.
        var rest = (writes + [Write(sql: sql)])[...]
        while rest.count > Self.most {
            _ = try lastResult(of: rest.prefix(Self.most))
            rest = rest.dropFirst(Self.most)
        }
        return try body(try lastResult(of: rest))
    }

    /// A statement of which only the number of rows matters.
    struct Write {
        var sql: SQL
        /// What it must affect; nil for any number.
        var rows: Int?
    }

    /// How many statements share a round trip.
    static let most = 12

    /// Runs a command without parameters, such as `ROLLBACK`.
    func command(_ text: StaticString) throws(PostgresError) {
        try send { PQsendQuery(raw, text.description) }
        _ = try receive()
    }

    /// What begins a transaction.
    func beginning(_ isolation: IsolationLevel) -> [SQL] {
        [isolation.begin] + (localSettings.map { [SQL(text: $0)] } ?? [])
    }

    private func result(of sql: SQL) throws(PostgresError) -> QueryResult {
        try sql.check()
        guard let statements else {
            guard let localSettings, PQtransactionStatus(raw) == PQTRANS_IDLE else { return try plainResult(of: sql) }
            do throws(PostgresError) {
                return try lastResult(of: [Write(sql: SQL(text: localSettings)), Write(sql: sql)])
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
        try makeRoom(in: statements)
        let known = statements.name(of: sql)
        let name = known ?? statements.nextName
        if known == nil {
            try sendPreparation(of: sql, as: name)
            _ = try answer()
            statements.insert(sql)
        }
        do throws(PostgresError) {
            try sendPrepared(sql, name)
            return try receive()
        } catch {
            // The cached plan has other result columns, because of a migration in between.
            guard known != nil, error.isOutdatedPlan else { throw error }
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

    /// Runs statements in one round trip (PostgreSQL, chapter 34.5).
    ///
    /// Outside of a transaction, they are one.
    private func lastResult(of list: some Collection<Write>) throws(PostgresError) -> QueryResult {
        for write in list { try write.sql.check() }
        if let statements { try makeRoom(in: statements) }
        try send { PQenterPipelineMode(raw) }
        var questions: [Question] = []
        for write in list {
            guard let statements else {
                try sendUnprepared(write.sql)
                questions.append(.statement(write, wasKnown: false))
                continue
            }
            let known = statements.name(of: write.sql)
            if known == nil {
                try sendPreparation(of: write.sql, as: statements.nextName)
                statements.insert(write.sql)
                questions.append(.preparation(write.sql))
            }
            try sendPrepared(write.sql, statements.name(of: write.sql) ?? "")
            questions.append(.statement(write, wasKnown: known != nil))
        }
        try send { PQpipelineSync(raw) }
        countRoundTrip?()
        // Each may wait for a lock before the first answer comes.
        let limit = answerTimeout.map { $0 + lockTimeout * (list.count - 1) }
        var last: QueryResult?
        var failure: PostgresError?
        for question in questions {
            do throws(PostgresError) {
                let result = try answer(within: limit)
                last = result
                guard case .statement(let write, _) = question, let rows = write.rows, rows != result.affectedRows
                else { continue }
                failure = failure ?? PostgresError(.server, sqlState: PostgresError.noSuchRow)
            } catch {
                guard !isBroken else { throw error }
                guard failure == nil else {
                    if case .preparation(let sql) = question { statements?.remove(sql) }
                    continue
                }
                failure = error
                switch question {
                case .preparation(let sql): statements?.remove(sql)
                case .statement(let write, wasKnown: true) where error.isOutdatedPlan:
                    statements?.remove(write.sql)
                    failure?.isStalePlan = true
                case .statement: break
                }
            }
        }
        var isOver = false
        while !isOver {
            do throws(PostgresError) {
                isOver = try answer(within: limit).isEndOfPipeline
            } catch {
                // All of them had succeeded.
                var error = error
                error.mayHaveRun = failure == nil
                guard !isBroken else { throw error }
                failure = failure ?? error
            }
        }
        try send { PQexitPipelineMode(raw) }
        if let failure { throw failure }
        guard let last else { throw lost() }
        return last
    }

    /// What is asked in a pipeline.
    private enum Question {
        case preparation(SQL)
        case statement(Write, wasKnown: Bool)
    }

    private func makeRoom(in statements: PreparedStatements) throws(PostgresError) {
        guard statements.isFull else { return }
        try command("DEALLOCATE ALL")
        statements.removeAll()
    }

    private func sendPreparation(of sql: SQL, as name: String) throws(PostgresError) {
        try send {
            sql.withCParameters { count, types, _, _, _ in PQsendPrepare(raw, name, sql.text, count, types) }
        }
    }

    private func sendPrepared(_ sql: SQL, _ name: String) throws(PostgresError) {
        try send { sql.withCParameters { PQsendQueryPrepared(raw, name, $0, $2, $3, $4, 1) } }
    }

    private func send(_ statement: () -> Int32) throws(PostgresError) {
        guard statement() == 1 else { throw lost() }
    }

    /// Waits for the whole response to what was sent.
    ///
    /// - Parameter limit: instead of the usual one.
    private func receive(within limit: Duration? = nil) throws(PostgresError) -> QueryResult {
        countRoundTrip?()
        return try answer(within: limit)
    }

    /// Waits for the whole answer to a statement, or for the end of a pipeline.
    private func answer(within limit: Duration? = nil) throws(PostgresError) -> QueryResult {
        let deadline = (limit ?? answerTimeout).map { ContinuousClock.now + $0 }
        var answer: QueryResult?
        var hadSucceeded = false
        while true {
            while PQisBusy(raw) == 1 {
                try waitForData(until: deadline)
                // A server that ends a session says why before it closes the connection.
                guard PQconsumeInput(raw) == 1 else { throw lost(answer?.error ?? PostgresError(.connectionLost)) }
            }
            guard let next = PQgetResult(raw) else { break }
            let result = QueryResult(next)
            guard !result.isEndOfPipeline else {
                answer = result
                break
            }
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
        // A coordinator says it of a machine behind it; it answers of the others.
        if PQstatus(raw) == CONNECTION_OK, error.sqlState?.hasPrefix("08") == true { error.code = .unavailable }
        // `accounts_pkey_102046` is that of a shard.
        if isDistributed { error.constraint = error.constraint?.replacing(/_[0-9]+$/, with: "") }
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
