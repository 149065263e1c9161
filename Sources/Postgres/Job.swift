/// One piece of work for a connection: a statement, or a whole transaction.
///
/// `@unchecked Sendable`: all mutable state is guarded by the pool's lock; one of `work` and `fail` is called once, by
/// the code that moved the job out of `queued`.
final class Job: @unchecked Sendable {
    enum State {
        case new
        case queued
        case running(Worker)
        case finished
    }

    var state = State.new
    var isCancelled = false
    let since = ContinuousClock.now
    let share = PostgresShare.current
    /// Runs on the worker's thread and resumes the caller.
    let work: @Sendable (Worker, Connection, Job) -> Void
    /// Resumes the caller without having run.
    let fail: @Sendable (PostgresError) -> Void

    init(
        work: @escaping @Sendable (Worker, Connection, Job) -> Void,
        fail: @escaping @Sendable (PostgresError) -> Void
    ) {
        self.work = work
        self.fail = fail
    }
}
