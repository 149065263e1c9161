import Postgres
package import Prometheus
import Synchronization

/// Joins questions that arrive while another is running into one statement.
///
/// The first question runs immediately, in its own task; those that arrive in the meantime wait for its end and then
/// run together. So a batch adds no delay under low load, and saves two thirds of the work under high load. Rules:
///
/// - A key appears once in a batch; its next question waits for the next batch. Few may wait for one key, so that
///   somebody who asks for one thing on thousands of connections does not fill the places of everybody.
/// - A question that fails by itself fails alone: the failure is its result.
/// - If a batch's statement fails, each member is asked again alone, in parallel and beside the next batches, unless the
///   batch is older than `patience`.
/// - A batch is not asked again if the database is unavailable, or if its statement may have run.
/// - A cancelled task stops waiting; the batch continues.
package final class Batcher<Key: Hashable & Sendable, Question: Sendable, Answer: Sendable>: Sendable {
    /// Runs questions in one statement and returns a result or failure for each, in their order.
    package typealias Ask = @Sendable ([Question]) async throws -> [Result<Answer, any Error>]

    private struct Entry: Sendable {
        let keys: [Key]
        let question: Question
        let waiter = Waiter<Answer>()
        let since = ContinuousClock.now
    }

    private struct State {
        var isBusy = false
        var waiting: [Entry] = []
        /// How many of them wait for each key.
        var crowds: [Key: Int] = [:]
        /// Failed batches whose members are being asked again beside the current batch.
        var repairs = 0
        /// The keys of those members.
        var held: Set<Key> = []
        /// Resumed when enough questions wait for the next batch.
        var gathering: Waiter<Void>?
        var counts = BatchCounts()
    }

    private let state = Mutex(State())
    private let limit: Int
    private let queueLimit: Int
    private let keyLimit: Int
    private let pace: BatchPace
    private let isOn: Bool
    private let patience: Duration
    private let ask: Ask
    private static var repairLimit: Int { 4 }

    /// - Parameters:
    ///   - limit: the maximum number of questions in a batch.
    ///   - queueLimit: the maximum number of waiting questions; one more fails as ``PostgresError/Code/overloaded``.
    ///   - keyLimit: the same for the questions of one key.
    ///   - isOn: false asks each question separately and immediately.
    ///   - patience: the age up to which a failed batch's members are asked again.
    package init(
        isOn: Bool = true,
        limit: Int = 64,
        queueLimit: Int = 4096,
        keyLimit: Int = 64,
        pace: BatchPace = BatchPace(),
        patience: Duration = .seconds(15),
        asking ask: @escaping Ask
    ) {
        self.isOn = isOn
        self.limit = limit
        self.queueLimit = queueLimit
        self.keyLimit = keyLimit
        self.pace = pace
        self.patience = patience
        self.ask = ask
    }

    /// For questions that cannot fail individually.
    package convenience init(
        isOn: Bool = true,
        limit: Int = 64,
        queueLimit: Int = 4096,
        keyLimit: Int = 64,
        pace: BatchPace = BatchPace(),
        patience: Duration = .seconds(15),
        ask: @escaping @Sendable ([Question]) async throws -> [Answer]
    ) {
        self.init(
            isOn: isOn,
            limit: limit,
            queueLimit: queueLimit,
            keyLimit: keyLimit,
            pace: pace,
            patience: patience
        ) { questions in
            try await ask(questions).map { .success($0) }
        }
    }

    /// Totals since the start.
    package var counts: BatchCounts {
        state.withLock { state in
            var counts = state.counts
            counts.waiting = state.waiting.count
            return counts
        }
    }

    /// - Parameter key: nil for a question that may appear in a batch more than once.
    /// - Throws: ``PostgresError``; `CancellationError`.
    package func answer(to question: Question, for key: Key?) async throws -> Answer {
        try await answer(to: question, for: key.map { [$0] } ?? [])
    }

    /// - Parameter keys: different ones; a batch has no two questions with a key in common.
    /// - Throws: ``PostgresError``; `CancellationError`.
    package func answer(to question: Question, for keys: [Key]) async throws -> Answer {
        guard isOn else { return try await answerAlone(question) }
        let isFirst = state.withLock { state in
            guard !state.isBusy, state.held.isDisjoint(with: keys) else { return false }
            state.isBusy = true
            state.counts.sizes.record(1)
            return true
        }
        guard isFirst else { return try await wait(question, keys) }
        defer { passOn() }
        // Others wait for it, so it does not wait for the turn of its network.
        return try await PostgresShare.with(nil) { try await answerAlone(question) }
    }

    private func answerAlone(_ question: Question) async throws -> Answer {
        guard let answer = try await ask([question]).first else {
            throw PostgresError(.decoding, reason: "a batch without its answer")
        }
        return try answer.get()
    }

    private func wait(_ question: Question, _ keys: [Key]) async throws -> Answer {
        let entry = Entry(keys: keys, question: question)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard entry.waiter.attach(continuation) else { return }
                let (isFull, gathering) = state.withLock { state -> (Bool, Waiter<Void>?) in
                    let crowd = keys.map { state.crowds[$0, default: 0] }.max() ?? 0
                    guard state.waiting.count < queueLimit, crowd < keyLimit else { return (true, nil) }
                    state.waiting.append(entry)
                    for key in keys { state.crowds[key, default: 0] += 1 }
                    guard state.waiting.count >= pace.enough else { return (false, nil) }
                    return (false, state.gathering.take())
                }
                if isFull {
                    entry.waiter.resume(with: .failure(PostgresError(.overloaded)))
                    return
                }
                gathering?.resume(with: .success(()))
                // The running batch may have ended before this question was queued.
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

    /// Ends a batch and starts the next one with the questions that waited for its end.
    private func passOn() {
        guard let batch = next() else { return }
        // Detached, because the caller's logger, priority and cancellation are not those of the other members.
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

    /// Runs questions in one statement.
    ///
    /// - Returns: why the statement failed, if its questions may be asked again; nil if each has its result.
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

    /// Asks the members of a failed batch again beside the next batches, as long as few batches fail.
    private func askAgain(
        _ batch: [Entry],
        after error: any Error,
        until deadline: ContinuousClock.Instant
    ) async {
        let keys = batch.flatMap(\.keys)
        let isBeside = state.withLock { state in
            guard state.repairs < Self.repairLimit else { return false }
            state.repairs += 1
            state.held.formUnion(keys)
            return true
        }
        guard isBeside else { return await askEach(batch, after: error, until: deadline) }
        // Detached, like a batch, so that the next batch does not wait for these questions.
        Task.detached {
            await self.askEach(batch, after: error, until: deadline)
            self.state.withLock { state in
                state.repairs -= 1
                state.held.subtract(keys)
            }
            self.startIfIdle()
        }
    }

    private func askEach(
        _ entries: [Entry],
        after error: any Error,
        until deadline: ContinuousClock.Instant
    ) async {
        guard ContinuousClock.now < deadline else { return fail(entries, error) }
        await withDiscardingTaskGroup { group in
            for entry in entries where !entry.waiter.isOver { group.addTask { _ = await self.settle([entry]) } }
        }
    }

    /// Waits until enough questions are queued, at most for the pace's delay.
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

    /// The questions of the next batch, each key once, in order of arrival; nil, and idle, if none waits.
    private func next() -> [Entry]? {
        state.withLock { state in
            var batch: [Entry] = []
            var later: [Entry] = []
            var keys = state.held
            state.crowds.removeAll(keepingCapacity: true)
            for entry in state.waiting where !entry.waiter.isOver {
                if batch.count < limit, keys.isDisjoint(with: entry.keys) {
                    batch.append(entry)
                    keys.formUnion(entry.keys)
                } else {
                    later.append(entry)
                    for key in entry.keys { state.crowds[key, default: 0] += 1 }
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
/// A batch's statement costs as much as many of its questions. So after a batch of at least `crowd` questions, the next
/// one waits until `enough` are queued, or for `delay`. PostgreSQL does the same for commits (`commit_siblings`,
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

/// Counts of batches, and how long questions waited for theirs.
package struct BatchCounts: Sendable {
    package internal(set) var sizes = Histogram.sizes
    /// In seconds; a question that did not wait is not counted.
    package internal(set) var waits = Histogram.seconds
    /// The number of questions waiting now.
    package internal(set) var waiting = 0
}

extension PostgresError.Code {
    /// Whether asking again is useless, because the whole database is affected, or harmful, because the statement has
    /// run or may have.
    fileprivate var isFinal: Bool {
        switch self {
        case .unavailable, .connectionLost, .overloaded, .decoding: true
        default: false
        }
    }
}
