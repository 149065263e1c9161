/// A worker that one transaction uses, whose statements it runs one after another.
///
/// `@unchecked Sendable`: the state is guarded by the pool's lock.
final class Lease: @unchecked Sendable {
    private let worker: Worker
    private var pool: Pool { worker.pool }

    // Guarded by the lock
    private var mailbox: [Job] = []
    private var isEnded = false
    private var sawRetryableError = false

    init(_ worker: Worker) { self.worker = worker }

    /// Whether a statement failed so that the transaction should run again, even if the error was caught: without COMMIT, it
    /// has surely changed nothing.
    var shouldBeRetried: Bool { pool.lock.withLock { sawRetryableError } }

    // MARK: From tasks

    /// Runs work on the transaction's connection.
    func submit<R: Sendable>(_ work: @escaping @Sendable (Connection) throws -> R) async throws -> R {
        try await Job.run(in: pool, enqueue: enqueue) { continuation in
            Job(continuation) { [self] connection in
                do {
                    return try work(connection)
                } catch let error as PostgresError
                    where error.isRetryable || pool.isPatient && error.code == .connectionLost
                {
                    pool.lock.withLock { sawRetryableError = true }
                    throw error
                }
            }
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
        do {
            let tag = try connection.command(committing ? "COMMIT" : "ROLLBACK")
            // The server responds to COMMIT with ROLLBACK if a statement failed.
            guard !committing || tag == "COMMIT" else { throw PostgresError(.server, sqlState: "25P02") }
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
        if !connection.isBetweenTransactions { _ = try? connection.command("ROLLBACK") }
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
