import Foundation

/// A thread that sends cancel requests, because sending blocks.
///
/// `@unchecked Sendable`: the state is guarded by the pool's lock.
final class Canceller: @unchecked Sendable {
    private let lock: Lock
    private let signal: Lock.Signal
    private var requests: [(job: Job, worker: Worker)] = []
    private var isClosing = false
    private var sending: (job: Job, since: ContinuousClock.Instant)?

    /// Starts the thread.
    init(_ lock: Lock) {
        self.lock = lock
        signal = Lock.Signal(lock)
        let thread = Thread { self.serve() }
        thread.name = "postgres-cancel"
        thread.start()
    }

    /// Must be called with the lock held, for a running job.
    func add(_ job: Job, on worker: Worker) {
        requests.append((job, worker))
        signal.send()
    }

    /// Must be called with the lock held.
    ///
    /// - Returns: the requests that are left, but the one that is being sent.
    @discardableResult
    func close() -> [(job: Job, worker: Worker)] {
        isClosing = true
        signal.send()
        return requests.filter { $0.job !== sending?.job }
    }

    /// Whether a request takes so long that its server must be assumed to hang; others need another thread then.
    ///
    /// Must be called with the lock held.
    var isStuck: Bool { sending.map { .now - $0.since > .seconds(1) } ?? false }

    private func serve() {
        while let round = nextRound() {
            for (job, worker) in round {
                guard let handle = begin(job, on: worker) else { continue }
                handle.send()
                lock.withLock {
                    sending = nil
                    handle.inFlight -= 1
                    worker.signal.send()
                }
            }
        }
    }

    private func begin(_ job: Job, on worker: Worker) -> CancelHandle? {
        lock.withLock {
            guard !isClosing, case .running = job.state, let handle = worker.cancelHandle else { return nil }
            sending = (job, .now)
            handle.inFlight += 1
            return handle
        }
    }

    /// Waits for requests.
    ///
    /// A request is repeated until its job has ended: it can arrive before the statement does, and then cancels
    /// nothing.
    private func nextRound() -> [(job: Job, worker: Worker)]? {
        lock.withLock {
            if !requests.isEmpty { signal.wait(atMost: .milliseconds(200)) }
            while true {
                if isClosing { return nil }
                requests.removeAll { request in
                    if case .running = request.job.state { return false }
                    return true
                }
                if !requests.isEmpty { return requests }
                signal.wait()
            }
        }
    }
}
