import Synchronization

extension Job {
    /// A job that runs work and resumes its caller with the result.
    convenience init<R: Sendable>(
        _ continuation: CheckedContinuation<R, any Error>,
        _ work: @escaping @Sendable (Connection) throws -> R
    ) {
        self.init(
            work: { worker, connection, job in
                let outcome = Result { try work(connection) }
                let isAnswered = (outcome.failure as? PostgresError)?.code != .connectionLost
                let isCancelled = worker.pool.finish(job, on: worker, isAnswered: isAnswered)
                continuation.resume(
                    with: outcome.mapError { error in
                        guard isCancelled, var error = error as? PostgresError, error.sqlState == "57014" else {
                            return error
                        }
                        error.code = .cancelled
                        return error
                    }
                )
            },
            fail: { continuation.resume(throwing: $0) }
        )
    }

    /// Creates a job, enqueues it and waits for its end; cancelling the task cancels the job.
    static func run<R: Sendable>(
        in pool: Pool,
        enqueue: (Job) -> Void,
        make: (CheckedContinuation<R, any Error>) -> Job
    ) async throws -> R {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = make(continuation)
                if cancellation.attach(job) { job.isCancelled = true }
                enqueue(job)
            }
        } onCancel: {
            if let job = cancellation.cancel() { pool.cancel(job) }
        }
    }

    /// The job that a task's cancellation handler cancels, which may not exist yet.
    private final class Cancellation: Sendable {
        private let state = Mutex<(job: Job?, isCancelled: Bool)>((nil, false))

        /// - Returns: whether the task was cancelled before.
        func attach(_ job: Job) -> Bool {
            state.withLock { state in
                state.job = job
                return state.isCancelled
            }
        }

        func cancel() -> Job? {
            state.withLock { state in
                state.isCancelled = true
                return state.job
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
