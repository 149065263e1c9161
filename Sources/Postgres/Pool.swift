import Foundation
import Logging
import Prometheus
import Synchronization

/// The queue of jobs and the workers that process it.
///
/// `@unchecked Sendable`: the state is guarded by `lock`.
final class Pool: @unchecked Sendable {
    let configuration: PostgresClient.Configuration
    let lock = Lock()
    let logger: Logger
    let servers = Servers()
    private var workers: [Worker] = []
    private let roundTrips = Atomic<Int>(0)

    // Guarded by the lock
    private var queue: JobQueue
    /// Workers waiting with a connection; the last one was used most recently.
    private var idle: [Worker] = []
    /// Workers waiting without a connection.
    private var dormant: [Worker] = []
    private var connected = 0
    private var dialing = 0
    private var failures = 0
    /// Whether the last attempt found no server, as opposed to one without free connections.
    private var isDown = false
    /// When the last connection was lost, or the first attempt failed; nil while there is one.
    private var downSince: ContinuousClock.Instant?
    /// No new connection is attempted before.
    private var retryAt: ContinuousClock.Instant?
    private var isClosing = false
    /// When statements are given up whose server does not respond.
    private var closesBy: ContinuousClock.Instant?
    private var running = 0
    private var begun = 0
    private var refused = 0
    private var waits = Histogram.seconds
    private var whenClosed: [CheckedContinuation<Void, Never>] = []
    private var canceller: Canceller?
    private var lastAnswer: ContinuousClock.Instant?

    init(_ configuration: PostgresClient.Configuration, logger: Logger) {
        self.configuration = configuration
        queue = JobQueue(limit: configuration.queueLimit)
        self.logger = logger
    }

    /// Starts the threads; connections are opened when needed.
    func start() {
        lock.withLock {
            running = configuration.connections
            workers = (0..<configuration.connections).map { _ in Worker(pool: self) }
        }
        for (index, worker) in workers.enumerated() { worker.start(name: "postgres-\(index)") }
    }

    var hasConnections: Bool { lock.withLock { connected > 0 } }

    /// Whether a server that does not respond keeps the process from its end.
    var mustEnd: Bool { lock.withLock { closesBy.map { ContinuousClock.now >= $0 } ?? false } }

    /// Whether the client waits for another server when its own is gone.
    var isPatient: Bool { configuration.patience > .zero }

    // MARK: From tasks

    func enqueue(_ job: Job) {
        let refusal: PostgresError? = lock.withLock {
            if job.isCancelled { return PostgresError(.cancelled) }
            if isClosing { return PostgresError(.unavailable, reason: "the client is closed") }
            if isHopeless, dialing == 0, isBackingOff, !isWaitingForServer {
                refused += 1
                return PostgresError(.unavailable)
            }
            guard queue.insert(job) else {
                refused += 1
                return PostgresError(.overloaded)
            }
            job.state = .queued
            wakeOne()
            return nil
        }
        if let refusal { job.fail(refusal) }
    }

    func countRoundTrip() { roundTrips.wrappingAdd(1, ordering: .relaxed) }

    var load: PoolLoad {
        lock.withLock {
            PoolLoad(
                connected: connected,
                idle: idle.count,
                waiting: queue.count,
                begun: begun,
                roundTrips: roundTrips.load(ordering: .relaxed),
                refused: refused,
                waits: waits
            )
        }
    }

    /// Whether some statements have waited for so long, and none was answered.
    func isStalled(for limit: Duration) -> Bool {
        lock.withLock {
            let waiting = workers.compactMap(\.askedAt) + (queue.since.map { [$0] } ?? [])
            let since = [waiting.min(), lastAnswer].compactMap(\.self).max()
            return !waiting.isEmpty && since.map { ContinuousClock.now - $0 >= limit } ?? false
        }
    }

    /// Waits for no other server from now on, and for an answer no longer than a few seconds.
    func stopWaiting() {
        let failed = lock.withLock {
            closesBy = closesBy ?? .now + Self.closing
            return takeUnservable()
        }
        for job in failed { job.fail(PostgresError(.unavailable, reason: "the client is stopping")) }
    }

    /// Cancels a job: a waiting one fails immediately, a running one is cancelled on the server.
    func cancel(_ job: Job) {
        let waited = lock.withLock {
            job.isCancelled = true
            switch job.state {
            case .new, .finished: return false
            case .queued:
                job.state = .finished
                queue.remove(job)
                return true
            case .running(let worker):
                let stuck = self.canceller.flatMap { $0.isStuck ? $0 : nil }
                let canceller = stuck == nil ? self.canceller ?? Canceller(lock) : Canceller(lock)
                for (job, worker) in stuck?.close() ?? [] { canceller.add(job, on: worker) }
                self.canceller = canceller
                canceller.add(job, on: worker)
                return false
            }
        }
        if waited { job.fail(PostgresError(.cancelled)) }
    }

    /// Accepts no more work, finishes what is waiting, and closes the connections.
    func close() {
        stopWaiting()
        lock.withLock {
            isClosing = true
            for worker in workers { worker.signal.send() }
        }
    }

    private static let closing = Duration.seconds(3)

    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = lock.withLock {
                if running > 0 { whenClosed.append(continuation) }
                return running == 0
            }
            if isClosed { continuation.resume() }
        }
    }

    // MARK: From workers

    /// Blocks until there is work for the worker.
    ///
    /// - Returns: false if the thread should end.
    func waitForWork(_ worker: Worker) -> Bool {
        lock.withLock {
            while true {
                if !queue.isEmpty {
                    if worker.isConnected { return true }
                    if mayDial {
                        dialing += 1
                        return true
                    }
                }
                // A worker with a connection stays until the queue is empty, so one without is not needed.
                if isClosing { return false }
                worker.isAwake = false
                if worker.isConnected { idle.append(worker) } else { dormant.append(worker) }
                while !worker.isAwake, !isClosing {
                    guard let pause = pauseBeforeDialing(by: worker) else {
                        worker.signal.wait()
                        continue
                    }
                    guard pause > .zero else { break }
                    worker.signal.wait(atMost: pause)
                }
                if worker.isAwake, !worker.isConnected { return true }
                idle.removeAll { $0 === worker }
                dormant.removeAll { $0 === worker }
            }
        }
    }

    func takeJob(for worker: Worker) -> Job? {
        lock.withLock {
            guard let job = queue.next() else { return nil }
            job.state = .running(worker)
            worker.askedAt = .now
            begun += 1
            waits.record((.now - job.since).seconds)
            return job
        }
    }

    /// Ends a job's cancellable part, and waits for cancel requests that could hit the next statement.
    ///
    /// - Parameter isAnswered: whether the server responded.
    /// - Returns: whether it was cancelled.
    func finish(_ job: Job, on worker: Worker, isAnswered: Bool, wasAsked: Bool = true) -> Bool {
        lock.withLock {
            job.state = .finished
            worker.askedAt = nil
            if isAnswered, wasAsked { lastAnswer = .now }
            // A connection without an answer is dropped, and nothing else runs on it.
            while isAnswered, let handle = worker.cancelHandle, handle.inFlight > 0 { worker.signal.wait() }
            return job.isCancelled
        }
    }

    func connected(_ worker: Worker, _ cancelHandle: CancelHandle) {
        lock.withLock {
            dialing -= 1
            connected += 1
            failures = 0
            isDown = false
            downSince = nil
            retryAt = nil
            worker.isConnected = true
            worker.cancelHandle = cancelHandle
            // While it was unknown whether the server is available, only one worker tried.
            if queue.count > 1 { wakeOne() }
        }
    }

    /// - Parameter isDown: whether no server responded at all.
    func failedToConnect(_ worker: Worker, _ error: PostgresError, isDown: Bool) {
        let (isFirst, failed) = lock.withLock {
            dialing -= 1
            failures += 1
            self.isDown = isDown
            if isHopeless { downSince = downSince ?? .now }
            // Not all nodes at the same moment.
            let longest = isWaitingForServer ? Duration.milliseconds(250) : .seconds(1)
            retryAt = .now + min(.milliseconds(25 << min(failures, 6)), longest) * Double.random(in: 0.5...1)
            let failed = takeUnservable()
            // A worker that waits with a connection was passed over for this one.
            if !queue.isEmpty { wakeOne() }
            return (failures == 1, failed)
        }
        if isFirst {
            logger.warning(
                "No connection to PostgreSQL",
                metadata: ["error.message": "\(error.serverMessage ?? error.description)"]
            )
        }
        for job in failed { job.fail(error) }
    }

    func lostConnection(of worker: Worker) {
        let failed = lock.withLock {
            forgetConnection(of: worker)
            return isBackingOff ? takeUnservable() : []
        }
        for job in failed { job.fail(PostgresError(.unavailable)) }
    }

    /// Drops a dead connection and returns whether the worker may open another one now.
    func mayReplaceConnection(of worker: Worker) -> Bool {
        let (isGranted, failed) = lock.withLock {
            forgetConnection(of: worker)
            guard !mayDial else {
                dialing += 1
                // A connection that is there answers sooner than a new one is opened.
                if !idle.isEmpty { wakeOne() }
                return (true, [Job]())
            }
            // The other connections may be dead too, which only their workers can find out.
            if !queue.isEmpty { wakeOne() }
            return (false, isBackingOff ? takeUnservable() : [])
        }
        for job in failed { job.fail(PostgresError(.unavailable)) }
        return isGranted
    }

    func ended(_ worker: Worker) {
        let (waiting, failed) = lock.withLock {
            if worker.isConnected { forgetConnection(of: worker) }
            running -= 1
            guard running == 0 else { return ([CheckedContinuation<Void, Never>](), [Job]()) }
            canceller?.close()
            workers = []
            defer { whenClosed = [] }
            let failed = queue.removeAll()
            for job in failed { job.state = .finished }
            return (whenClosed, failed)
        }
        for job in failed { job.fail(PostgresError(.unavailable, reason: "the client is closed")) }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Under the lock

    private var isBackingOff: Bool { retryAt.map { ContinuousClock.now < $0 } ?? false }

    /// Whether what waits for a connection still waits for a server.
    private var isWaitingForServer: Bool {
        guard closesBy == nil else { return false }
        guard isPatient, let downSince else { return isPatient }
        return ContinuousClock.now < downSince + configuration.patience
    }

    /// How long a worker without a connection waits before it tries to open one; nil if none needs it to.
    private func pauseBeforeDialing(by worker: Worker) -> Duration? {
        guard !worker.isConnected, !queue.isEmpty, dialing == 0, let retryAt else { return nil }
        return ContinuousClock.now.duration(to: retryAt)
    }

    /// One at a time after a failure, otherwise as many as there are jobs.
    private var mayDial: Bool {
        !isBackingOff && dialing < (failures == 0 ? queue.count : 1)
    }

    /// Whether no connection is left, or the remaining ones must be assumed dead.
    private var isHopeless: Bool { connected == 0 || isDown }

    private func wakeOne() {
        if let worker = idle.popLast() {
            worker.isAwake = true
            worker.signal.send()
        } else if !dormant.isEmpty, mayDial, let worker = dormant.popLast() {
            dialing += 1
            worker.isAwake = true
            worker.signal.send()
        } else if let worker = dormant.last {
            // It tries again when the pause is over.
            worker.signal.send()
        }
    }

    private func forgetConnection(of worker: Worker) {
        worker.isConnected = false
        worker.cancelHandle = nil
        connected -= 1
        if connected == 0 { downSince = .now }
    }

    /// The jobs that no worker is left to run.
    private func takeUnservable() -> [Job] {
        guard isHopeless, dialing == 0, !isWaitingForServer else { return [] }
        let failed = queue.removeAll()
        for job in failed { job.state = .finished }
        return failed
    }
}
