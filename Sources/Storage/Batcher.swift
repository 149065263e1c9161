import Postgres
package import Prometheus
import Synchronization

/// Joins questions that arrive while another is under way into one statement.
///
/// The first question runs at once, in its own task; those that come meanwhile wait for its end and are then asked
/// together. So a batch costs no delay when little is going on, and a third of the work when much is. Rules:
/// - A key is asked once in a batch; its next question waits for the next batch.
/// - A question that fails by itself fails alone: its answer is the failure.
/// - When a batch's statement fails, its members are asked again in smaller pieces that run side by side, beside the
///   batches that follow, and those of a piece that fails alone: one bad question among 64 costs 16 statements more, and
///   keeps no other waiting for more than two of them. After a timeout each is asked alone. No piece is asked once the
///   batch is older than `patience`.
/// - A batch is not asked again when there is no database to ask, or when its statement may have run.
/// - A cancelled task stops waiting; the batch goes on.
package final class Batcher<Key: Hashable & Sendable, Question: Sendable, Answer: Sendable>: Sendable {
    /// Asks some questions, in one statement, and gives an answer or a failure for each, in their order.
    package typealias Ask = @Sendable ([Question]) async throws -> [Result<Answer, any Error>]

    private struct Entry: Sendable {
        let key: Key?
        let question: Question
        let waiter = Waiter<Answer>()
        let since = ContinuousClock.now
    }

    private struct State {
        var isBusy = false
        var waiting: [Entry] = []
        /// Failed batches whose members are being asked again, beside the batch that is under way.
        var repairs = 0
        /// The keys of those members.
        var held: Set<Key> = []
        /// Resumed when enough wait for the next batch.
        var gathering: Waiter<Void>?
        var counts = BatchCounts()
    }

    private let state = Mutex(State())
    private let limit: Int
    private let queueLimit: Int
    private let pace: BatchPace
    private let isOn: Bool
    private let patience: Duration
    private let ask: Ask
    private static var repairLimit: Int { 4 }

    /// - Parameters:
    ///   - limit: questions in a batch.
    ///   - queueLimit: questions that may wait; one more fails as ``PostgresError/Code/overloaded``.
    ///   - isOn: false asks each question by itself, at once.
    ///   - patience: how old a failed batch may be for its members to be asked again.
    package init(
        isOn: Bool = true,
        limit: Int = 64,
        queueLimit: Int = 4096,
        pace: BatchPace = BatchPace(),
        patience: Duration = .seconds(15),
        asking ask: @escaping Ask
    ) {
        self.isOn = isOn
        self.limit = limit
        self.queueLimit = queueLimit
        self.pace = pace
        self.patience = patience
        self.ask = ask
    }

    /// For questions none of which can fail by itself.
    package convenience init(
        isOn: Bool = true,
        limit: Int = 64,
        queueLimit: Int = 4096,
        pace: BatchPace = BatchPace(),
        patience: Duration = .seconds(15),
        ask: @escaping @Sendable ([Question]) async throws -> [Answer]
    ) {
        self.init(isOn: isOn, limit: limit, queueLimit: queueLimit, pace: pace, patience: patience) { questions in
            try await ask(questions).map { .success($0) }
        }
    }

    /// What there was since the start.
    package var counts: BatchCounts {
        state.withLock { state in
            var counts = state.counts
            counts.waiting = state.waiting.count
            return counts
        }
    }

    /// - Parameter key: nil for a question that may stand in a batch more than once.
    /// - Throws: ``PostgresError``; `CancellationError`.
    package func answer(to question: Question, for key: Key?) async throws -> Answer {
        guard isOn else { return try await answerAlone(question) }
        let isFirst = state.withLock { state in
            guard !state.isBusy, !(key.map(state.held.contains) ?? false) else { return false }
            state.isBusy = true
            state.counts.sizes.record(1)
            return true
        }
        guard isFirst else { return try await wait(question, key) }
        defer { passOn() }
        return try await answerAlone(question)
    }

    private func answerAlone(_ question: Question) async throws -> Answer {
        guard let answer = try await ask([question]).first else {
            throw PostgresError(.decoding, reason: "a batch without its answer")
        }
        return try answer.get()
    }

    private func wait(_ question: Question, _ key: Key?) async throws -> Answer {
        let entry = Entry(key: key, question: question)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard entry.waiter.attach(continuation) else { return }
                let (isFull, gathering) = state.withLock { state -> (Bool, Waiter<Void>?) in
                    guard state.waiting.count < queueLimit else { return (true, nil) }
                    state.waiting.append(entry)
                    guard state.waiting.count >= pace.enough else { return (false, nil) }
                    return (false, state.gathering.take())
                }
                if isFull { return entry.waiter.resume(with: .failure(PostgresError(.overloaded))) }
                gathering?.resume(with: .success(()))
                // The one that was under way may have ended before this one waited.
                startIfIdle()
            }
        } onCancel: {
            entry.waiter.resume(with: .failure(CancellationError()))
        }
    }

    private func startIfIdle() {
        let starts = state.withLock { state in
            guard !state.isBusy, !state.waiting.isEmpty else { return false }
            state.isBusy = true
            return true
        }
        if starts { passOn() }
    }

    /// Ends a batch: asks those who waited for its end, if any.
    private func passOn() {
        guard let batch = next() else { return }
        // Nobody's task: the caller's logger, priority and end are not those of the others.
        Task.detached { await self.run(batch) }
    }

    private func run(_ first: [Entry]) async {
        var batch = first
        while true {
            let deadline = ContinuousClock.now + patience
            if let error = await settle(batch) { await askAgain(batch, after: error, until: deadline) }
            if batch.count >= pace.crowd { await gather() }
            guard let following = next() else { return }
            batch = following
        }
    }

    /// Asks some questions by one statement.
    ///
    /// - Returns: why the statement failed, when its questions may be asked again; nil when each has its end.
    private func settle(_ entries: [Entry]) async -> (any Error)? {
        do {
            let answers = try await ask(entries.map(\.question))
            guard answers.count == entries.count else {
                throw PostgresError(.decoding, reason: "a batch without its answers")
            }
            for (entry, answer) in zip(entries, answers) { entry.waiter.resume(with: answer) }
            return nil
        } catch {
            let isFinal = (error as? PostgresError)?.code.isFinal ?? false
            guard entries.count > 1, !isFinal else {
                fail(entries, error)
                return nil
            }
            return error
        }
    }

    private func fail(_ entries: [Entry], _ error: any Error) {
        for entry in entries { entry.waiter.resume(with: .failure(error)) }
    }

    /// Asks the members of a failed batch again, beside the batches that follow, as long as few batches fail.
    private func askAgain(
        _ batch: [Entry],
        after error: any Error,
        until deadline: ContinuousClock.Instant
    ) async {
        let keys = batch.compactMap(\.key)
        let isBeside = state.withLock { state in
            guard state.repairs < Self.repairLimit else { return false }
            state.repairs += 1
            state.held.formUnion(keys)
            return true
        }
        // A statement that took too long in company would do so in every piece: alone, one of them does.
        let isSlow = (error as? PostgresError)?.code == .timeout
        let size = isSlow ? 1 : min(Int(Double(batch.count).squareRoot().rounded(.up)), batch.count / 2)
        guard isBeside else { return await split(batch, into: size, after: error, until: deadline) }
        // Nobody's task, as a batch is: the next batch does not wait for these questions.
        Task.detached {
            await self.split(batch, into: size, after: error, until: deadline)
            self.state.withLock { state in
                state.repairs -= 1
                state.held.subtract(keys)
            }
            self.startIfIdle()
        }
    }

    /// Asks questions in pieces that run side by side, and the questions of a piece that fails alone.
    private func split(
        _ entries: [Entry],
        into size: Int,
        after error: any Error,
        until deadline: ContinuousClock.Instant
    ) async {
        guard ContinuousClock.now < deadline else { return fail(entries, error) }
        let open = entries.filter { !$0.waiter.isOver }
        await withDiscardingTaskGroup { group in
            for start in stride(from: 0, to: open.count, by: size) {
                let piece = Array(open[start..<min(start + size, open.count)])
                group.addTask {
                    guard let error = await self.settle(piece) else { return }
                    await self.split(piece, into: 1, after: error, until: deadline)
                }
            }
        }
    }

    /// Waits until enough questions wait, for the time of the pace at most.
    private func gather() async {
        let gathering = Waiter<Void>()
        let isEnough = state.withLock { state in
            guard state.waiting.count < pace.enough else { return true }
            state.gathering = gathering
            return false
        }
        guard !isEnough else { return }
        let timer = Task.detached { [pace] in
            try await Task.sleep(for: pace.delay)
            gathering.resume(with: .success(()))
        }
        try? await withCheckedThrowingContinuation { _ = gathering.attach($0) }
        timer.cancel()
    }

    /// The questions of the next batch, each key once, in the order of their arrival; nil, and idle, when none waits.
    private func next() -> [Entry]? {
        state.withLock { state in
            var batch: [Entry] = []
            var later: [Entry] = []
            var keys = state.held
            for entry in state.waiting where !entry.waiter.isOver {
                if batch.count < limit, entry.key.map({ keys.insert($0).inserted }) ?? true {
                    batch.append(entry)
                } else {
                    later.append(entry)
                }
            }
            state.waiting = later
            guard !batch.isEmpty else {
                state.isBusy = false
                return nil
            }
            state.counts.sizes.record(Double(batch.count))
            let now = ContinuousClock.now
            for entry in batch { state.counts.waits.record((now - entry.since).seconds) }
            return batch
        }
    }
}

/// How batches follow each other under load.
///
/// A batch's statement costs as much as many of its questions. So after a batch of at least `crowd` questions the next one
/// waits for company: until `enough` wait, or for `delay`. PostgreSQL does the same for commits (`commit_siblings`,
/// `commit_delay`).
package struct BatchPace: Sendable {
    package var crowd: Int
    package var enough: Int
    package var delay: Duration

    package init(crowd: Int = 5, enough: Int = 32, delay: Duration = .milliseconds(2)) {
        self.crowd = crowd
        self.enough = enough
        self.delay = delay
    }
}

/// What batches there were, and how long questions waited for theirs.
package struct BatchCounts: Sendable {
    package internal(set) var sizes = Histogram.sizes
    /// In seconds; the first question of a moment does not wait and is not in it.
    package internal(set) var waits = Histogram.seconds
    /// Questions that wait at this moment.
    package internal(set) var waiting = 0
}

/// A task that waits for an answer; the first one that comes, or its cancellation, ends the wait.
private final class Waiter<Answer: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Answer, any Error>)
        case over
    }

    private let state = Mutex(State.new)

    var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    /// - Returns: whether it waits; a task that was cancelled before does not.
    func attach(_ continuation: CheckedContinuation<Answer, any Error>) -> Bool {
        let waits = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(throwing: CancellationError()) }
        return waits
    }

    func resume(with answer: Result<Answer, any Error>) {
        let continuation: CheckedContinuation<Answer, any Error>? = state.withLock { state in
            defer { state = .over }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(with: answer)
    }
}

extension PostgresError.Code {
    /// Asking again is of no use, because the whole database is meant, or might do again what was done: the statement has
    /// run, or may have.
    fileprivate var isFinal: Bool {
        switch self {
        case .unavailable, .connectionLost, .overloaded, .decoding: true
        default: false
        }
    }
}
