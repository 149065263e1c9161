/// A worker that one transaction uses, whose statements it runs one after another.
///
/// `@unchecked Sendable`: the state is guarded by the pool's lock.
final class Lease: @unchecked Sendable {
    private let worker: Worker
    /// How many statements begin the transaction.
    private let beginning: Int
    private var pool: Pool { worker.pool }

    // Guarded by the lock
    private var mailbox: [Job] = []
    /// What goes with the next statement, at first what begins the transaction.
    private var writes: [Connection.Write]
    private var hasBegun = false
    /// Whether writes were sent that had no effect.
    private var isSpoiled = false
    private var isEnded = false
    private var sawRetryableError = false

    init(_ worker: Worker, beginning: [SQL]) {
        self.worker = worker
        writes = beginning.map { Connection.Write(sql: $0) }
        self.beginning = beginning.count
    }

    /// Whether a statement failed so that the transaction should run again, even if the error was caught: without COMMIT, it
    /// has surely changed nothing.
    var shouldBeRetried: Bool { pool.lock.withLock { sawRetryableError } }

    // MARK: From tasks

    /// Runs a statement, and before it those that wait.
    func submit<R: Sendable>(_ sql: SQL, _ read: @escaping @Sendable (QueryResult) throws -> R) async throws -> R {
        try await Job.run(in: pool, enqueue: enqueue) { continuation in
            Job(continuation) { [self] connection in
                try sql.check()
                // What was sent before may have failed without a transaction on the server.
                guard !pool.lock.withLock({ isSpoiled }) else { throw PostgresError(.server, sqlState: "25P02") }
                let writes = takeWrites()
                do {
                    return try connection.run(writes, then: sql, read)
                } catch let error as PostgresError {
                    pool.lock.withLock {
                        isSpoiled = isSpoiled || !writes.isEmpty && error.code != .decoding
                        if error.isRetryable || pool.isPatient && error.code == .connectionLost {
                            sawRetryableError = true
                        }
                    }
                    throw error
                }
            }
        }
    }

    func write(_ write: Connection.Write) { pool.lock.withLock { writes.append(write) } }

    private func takeWrites() -> [Connection.Write] {
        pool.lock.withLock {
            hasBegun = true
            defer { writes = [] }
            return writes
        }
    }

    /// Ends the transaction, also in a cancelled task.
    ///
    /// - Throws: if it should have been committed and was not.
    func end(committing: Bool) async throws {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(Job(continuation) { [self] in try end(committing: committing, on: $0) })
        }
    }

    private func end(committing: Bool, on connection: Connection) throws {
        defer { pool.lock.withLock { isEnded = true } }
        let state: (begun: Bool, waiting: Int, spoiled: Bool) = pool.lock.withLock {
            (hasBegun, writes.count, isSpoiled)
        }
        // On the server it begins with its first statement.
        guard state.begun || committing && state.waiting > beginning else { return }
        do {
            guard committing, !state.spoiled else {
                try connection.command("ROLLBACK")
                guard !committing else { throw PostgresError(.server, sqlState: "25P02") }
                return
            }
            let tag: String = try connection.run(takeWrites(), then: "COMMIT") { $0.commandTag }
            // The server responds to COMMIT with ROLLBACK if a statement failed.
            guard tag == "COMMIT" else { throw PostgresError(.server, sqlState: "25P02") }
        } catch let error as PostgresError where error.isRetryable || pool.isPatient && error.hasNotRun {
            pool.lock.withLock { sawRetryableError = true }
            throw error
        }
    }

    private func enqueue(_ job: Job) {
        let refusal: PostgresError? = pool.lock.withLock {
            if job.isCancelled { return PostgresError(.cancelled) }
            if isEnded { return PostgresError(.transactionEnded) }
            job.state = .queued
            mailbox.append(job)
            worker.signal.send()
            return nil
        }
        if let refusal { job.fail(refusal) }
    }

    // MARK: From the worker

    /// Runs statements until the transaction ends, breaks or is idle for too long.
    func serve(_ connection: Connection) {
        while let job = nextJob() {
            job.work(worker, connection, job)
            guard !connection.isBroken else { return end(failing: PostgresError(.connectionLost)) }
            guard !pool.lock.withLock({ isEnded }) else { break }
        }
        end(failing: PostgresError(.transactionEnded))
        // Still open if it was not ended.
        if !connection.isBetweenTransactions { try? connection.command("ROLLBACK") }
    }

    private func nextJob() -> Job? {
        let deadline = ContinuousClock.now + pool.configuration.transactionIdleTimeout
        return pool.lock.withLock {
            while true {
                while !mailbox.isEmpty {
                    let job = mailbox.removeFirst()
                    // A cancelled one has already failed.
                    guard case .queued = job.state else { continue }
                    job.state = .running(worker)
                    worker.askedAt = .now
                    return job
                }
                let rest = ContinuousClock.now.duration(to: deadline)
                guard rest > .zero else {
                    isEnded = true
                    return nil
                }
                worker.signal.wait(atMost: rest)
            }
        }
    }

    private func end(failing error: PostgresError) {
        let left = pool.lock.withLock {
            isEnded = true
            defer { mailbox = [] }
            return mailbox.filter { job in
                guard case .queued = job.state else { return false }
                job.state = .finished
                return true
            }
        }
        for job in left { job.fail(error) }
    }
}
