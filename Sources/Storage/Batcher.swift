import Postgres
package import Prometheus
import Synchronization

/// Joins questions that arrive while another is under way into one statement.
///
/// The first question runs at once, in its own task; those that come meanwhile wait for its end and are then asked
/// together. So a batch costs no delay when little is going on, and a third of the work when much is. Rules:
/// - A key is asked once in a batch; its next question waits for the next batch.
/// - When a batch fails, its members are asked one by one, so that no question suffers from its neighbours; not so when
///   there is no database to ask.
/// - A cancelled task stops waiting; the batch goes on.
package final class Batcher<Key: Hashable & Sendable, Question: Sendable, Answer: Sendable>: Sendable {
    /// Asks some questions, in one statement, and gives an answer for each, in their order.
    package typealias Ask = @Sendable ([Question]) async throws -> [Answer]

    private struct Entry: Sendable {
        let key: Key?
        let question: Question
        let waiter = Waiter<Answer>()
        let since = ContinuousClock.now
    }

    private struct State {
        var isBusy = false
        var waiting: [Entry] = []
        /// Resumed when enough wait for the next batch.
        var gathering: Waiter<Void>?
        var counts = BatchCounts()
    }

    private let state = Mutex(State())
    private let limit: Int
    private let queueLimit: Int
    private let pace: BatchPace
    private let isOn: Bool
    private let ask: Ask

    /// - Parameters:
    ///   - limit: questions in a batch.
    ///   - queueLimit: questions that may wait; one more fails as ``PostgresError/Code/overloaded``.
    ///   - isOn: false asks each question by itself, at once.
    package init(
        isOn: Bool = true,
        limit: Int = 64,
        queueLimit: Int = 4096,
        pace: BatchPace = BatchPace(),
        ask: @escaping Ask
    ) {
        self.isOn = isOn
        self.limit = limit
        self.queueLimit = queueLimit
        self.pace = pace
        self.ask = ask
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
            guard !state.isBusy else { return false }
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
        return answer
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
            do {
                let answers = try await ask(batch.map { $0.question })
                guard answers.count == batch.count else {
                    throw PostgresError(.decoding, reason: "a batch without its answers")
                }
                for (entry, answer) in zip(batch, answers) { entry.waiter.resume(with: .success(answer)) }
            } catch let error as PostgresError where error.code.concernsAll || batch.count == 1 {
                for entry in batch { entry.waiter.resume(with: .failure(error)) }
            } catch {
                await runOneByOne(batch)
            }
            if batch.count >= pace.crowd { await gather() }
            guard let following = next() else { return }
            batch = following
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

    private func runOneByOne(_ batch: [Entry]) async {
        for entry in batch where !entry.waiter.isOver {
            do {
                let answer = try await answerAlone(entry.question)
                entry.waiter.resume(with: .success(answer))
            } catch {
                entry.waiter.resume(with: .failure(error))
            }
        }
    }

    /// The questions of the next batch, each key once, in the order of their arrival; nil, and idle, when none waits.
    private func next() -> [Entry]? {
        state.withLock { state in
            var batch: [Entry] = []
            var later: [Entry] = []
            var keys: Set<Key> = []
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
    /// The whole database is meant, not one statement.
    fileprivate var concernsAll: Bool {
        switch self {
        case .unavailable, .connectionLost, .overloaded: true
        default: false
        }
    }
}
