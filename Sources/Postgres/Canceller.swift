import Foundation

/// A thread that sends cancel requests, because sending blocks.
///
/// `@unchecked Sendable`: the state is guarded by the pool's lock.
final class Canceller: @unchecked Sendable {
    private let lock: Lock
    private let signal: Lock.Signal
    private var requests: [(job: Job, worker: Worker)] = []
    private var isClosing = false

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
    func close() {
        isClosing = true
        signal.send()
    }

    private func serve() {
        while let round = nextRound() {
            for (worker, handle) in round {
                handle.send()
                lock.withLock {
                    worker.cancelsInFlight -= 1
                    worker.signal.send()
                }
            }
        }
    }

    /// Waits for requests.
    ///
    /// A request is repeated until its job has ended: it can arrive before the statement does, and then cancels
    /// nothing.
    private func nextRound() -> [(Worker, CancelHandle)]? {
        lock.withLock {
            if !requests.isEmpty { signal.wait(atMost: .milliseconds(200)) }
            while true {
                if isClosing { return nil }
                requests.removeAll { request in
                    if case .running = request.job.state { return false }
                    return true
                }
                var round: [(Worker, CancelHandle)] = []
                for (_, worker) in requests {
                    guard let handle = worker.cancelHandle else { continue }
                    worker.cancelsInFlight += 1
                    round.append((worker, handle))
                }
                if !round.isEmpty { return round }
                signal.wait()
            }
        }
    }
}
