import Postgres
import Storage
import Synchronization
import TestKit
import Testing

@Suite("Questions that share a statement", .timeLimit(.minutes(1)))
struct BatcherTests {
    /// A batcher whose first question is held back until all others wait for its end.
    private final class Held: Sendable {
        let batches = Mutex<[[String]]>([])
        let release = Barrier(2)
        let started = AsyncStream.makeStream(of: Void.self)
        private let answer: @Sendable ([String]) throws -> [String]

        init(_ answer: @escaping @Sendable ([String]) throws -> [String] = { $0.map { $0.uppercased() } }) {
            self.answer = answer
        }

        func ask(_ questions: [String]) async throws -> [String] {
            batches.withLock { $0.append(questions) }
            if questions == ["first"] {
                started.continuation.yield()
                await release.wait()
            }
            return try answer(questions)
        }

        func whenStarted() async { for await _ in started.stream { return } }

        var later: [[String]] { Array(batches.withLock { $0 }.dropFirst()) }
    }

    private struct Failure: Error {}

    /// Asks `questions` while the first is under way, all in a row.
    private func ask(
        _ questions: [(key: String?, question: String)],
        _ held: Held,
        limit: Int = 64,
        queueLimit: Int = 4096,
        pace: BatchPace = BatchPace()
    ) async throws -> [Result<String, any Error>] {
        let batcher = Batcher<String, String, String>(limit: limit, queueLimit: queueLimit, pace: pace) {
            try await held.ask($0)
        }
        let first = Task { try await batcher.answer(to: "first", for: "first") }
        await held.whenStarted()
        let tasks = questions.map { entry in Task { try await batcher.answer(to: entry.question, for: entry.key) } }
        try await waitUntil { batcher.counts.waiting == min(questions.count, queueLimit) }
        await held.release.wait()
        #expect(try await first.value == "FIRST")
        var outcomes: [Result<String, any Error>] = []
        for task in tasks { outcomes.append(await task.result) }
        return outcomes
    }

    @Test("those that come while one is under way are asked together, at most so many, and each gets its own answer")
    func batches() async throws {
        let held = Held()
        let questions = (0..<100).map { (key: "k\($0)" as String?, question: "q\($0)") }
        let answers = try await ask(questions, held, limit: 64)
        for (question, answer) in zip(questions, answers) {
            let got = try answer.get()
            #expect(got == question.question.uppercased())
        }
        #expect(held.later.map(\.count) == [64, 36])
    }

    @Test("after a crowd the next batch waits for enough questions, and for so long at most")
    func pace() async throws {
        let held = Held()
        let pace = BatchPace(crowd: 3, enough: 3, delay: .seconds(3600))
        let batcher = Batcher<String, String, String>(limit: 3, pace: pace) { try await held.ask($0) }
        let first = Task { try await batcher.answer(to: "first", for: "first") }
        await held.whenStarted()
        let crowd = ["a", "b", "c", "d"].map { name in Task { try await batcher.answer(to: name, for: name) } }
        try await waitUntil { batcher.counts.waiting == 4 }
        await held.release.wait()
        _ = try await first.value
        try await waitUntil { batcher.counts.waiting == 1 }
        let others = ["e", "f"].map { name in Task { try await batcher.answer(to: name, for: name) } }
        for task in crowd + others { _ = try await task.value }
        #expect(held.later.map(\.count) == [3, 3])

        let patient = Held()
        let few = BatchPace(crowd: 2, enough: 3, delay: .milliseconds(1))
        let questions: [(key: String?, question: String)] = ["a", "b", "c"].map { (key: $0, question: $0) }
        for answer in try await ask(questions, patient, limit: 2, pace: few) { _ = try answer.get() }
        #expect(patient.later.map(\.count) == [2, 1])
    }

    @Test("T-D5: a key is asked once in a batch; without a key it may be there twice")
    func keys() async throws {
        let held = Held()
        _ = try await ask([("a", "a1"), ("a", "a2"), ("b", "b1"), ("a", "a3"), (nil, "n"), (nil, "n")], held)
        for batch in held.later {
            #expect(batch.count { $0.hasPrefix("a") } <= 1)
        }
        #expect(held.later.first?.count == 4)
        #expect(held.later.count == 3)
    }

    @Test("when a batch fails its members are asked one by one, and one bad question spoils no other")
    func failures() async throws {
        let held = Held { questions in
            if questions.contains("bad") { throw Failure() }
            return questions.map { $0.uppercased() }
        }
        let answers = try await ask([("a", "a"), ("x", "bad"), ("b", "b")], held)
        #expect(try answers[0].get() == "A")
        #expect(throws: Failure.self) { try answers[1].get() }
        #expect(try answers[2].get() == "B")
        #expect(held.later.map(\.count) == [3, 1, 1, 1])
    }

    @Test("more than may wait is refused at once")
    func overload() async throws {
        let held = Held()
        let batcher = Batcher<String, String, String>(queueLimit: 2) { try await held.ask($0) }
        let first = Task { try await batcher.answer(to: "first", for: "first") }
        await held.whenStarted()
        let waiting = ["a", "b"].map { name in Task { try await batcher.answer(to: name, for: name) } }
        try await waitUntil { batcher.counts.waiting == 2 }
        do {
            _ = try await batcher.answer(to: "c", for: "c")
            Issue.record("there was room")
        } catch let error as PostgresError {
            #expect(error.code == .overloaded)
        }
        await held.release.wait()
        _ = try await first.value
        for task in waiting { _ = try await task.value }
    }

    @Test("a cancelled question stops to wait, and the others get their answers")
    func cancellation() async throws {
        let held = Held()
        let batcher = Batcher<String, String, String> { try await held.ask($0) }
        let first = Task { try await batcher.answer(to: "first", for: "first") }
        await held.whenStarted()
        let (left, stays) = (
            Task { try await batcher.answer(to: "left", for: "left") },
            Task { try await batcher.answer(to: "stays", for: "stays") }
        )
        try await waitUntil { batcher.counts.waiting == 2 }
        left.cancel()
        await #expect(throws: CancellationError.self) { try await left.value }
        await held.release.wait()
        #expect(try await first.value == "FIRST")
        #expect(try await stays.value == "STAYS")
        #expect(held.later == [["stays"]])
    }
}
