import Postgres
import Storage
import Synchronization
import TestKit
import Testing

@Suite("Questions that share a statement", .timeLimit(.minutes(10)))
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
        pace: BatchPace = BatchPace(),
        patience: Duration = .seconds(3600)
    ) async throws -> [Result<String, any Error>] {
        let batcher = Batcher<String, String, String>(
            limit: limit,
            queueLimit: queueLimit,
            pace: pace,
            patience: patience
        ) { try await held.ask($0) }
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

    @Test("questions that arrive while one runs are batched, up to a limit, and each gets its own answer")
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

    @Test("T-E11: of ten thousand questions with one key few wait, and nobody waits behind them")
    func crowd() async throws {
        let held = Held()
        let batcher = Batcher<String, String, String> { try await held.ask($0) }
        func ask(_ name: String, for key: String) -> Task<String, any Error> {
            Task { try await batcher.answer(to: name, for: key) }
        }
        let first = ask("first", for: "first")
        await held.whenStarted()
        var tasks: [Task<String, any Error>] = []
        for number in 0..<64 {
            tasks.append(ask("same\(number)", for: "x"))
            try await waitUntil { batcher.counts.waiting == tasks.count }
        }
        for number in 64..<10_000 {
            let error = await #expect(throws: PostgresError.self) {
                try await batcher.answer(to: "same\(number)", for: "x")
            }
            #expect(error?.code == .overloaded)
        }
        let others = (0..<64).map { ask("other\($0)", for: "\($0)") }
        try await waitUntil { batcher.counts.waiting == 64 + 64 }
        await held.release.wait()
        for task in [first] + tasks + others { _ = try await task.value }
        // One of the crowd in each, and then the rest of it alone.
        #expect(held.later.map(\.count) == [64, 2] + Array(repeating: 1, count: 62))
        // Those that left have left room.
        #expect(try await batcher.answer(to: "again", for: "x") == "AGAIN")
    }

    @Test("T-D5: questions with a key in common are in different batches, others of the same thing together")
    func severalKeys() async throws {
        let held = Held()
        let batcher = Batcher<String, String, String> { try await held.ask($0) }
        let first = Task { try await batcher.answer(to: "first", for: ["first"]) }
        await held.whenStarted()
        let questions = ["1 2", "2 3", "3 4", "5"]
        var tasks: [Task<String, any Error>] = []
        for question in questions {
            let keys = question.split(separator: " ").map { String($0) }
            tasks.append(Task { try await batcher.answer(to: question, for: keys) })
            try await waitUntil { batcher.counts.waiting == tasks.count }
        }
        await held.release.wait()
        for task in [first] + tasks { _ = try await task.value }
        #expect(held.later == [["1 2", "3 4", "5"], ["2 3"]])
    }

    @Test("T-E12: one bad question spoils no other, and costs none of them more than one further statement")
    func poison() async throws {
        let held = Held { questions in
            if questions.contains("bad") { throw Failure() }
            return questions.map { $0.uppercased() }
        }
        let questions = (0..<64).map { (key: "k\($0)" as String?, question: $0 == 20 ? "bad" : "q\($0)") }
        let answers = try await ask(questions, held)
        for (question, answer) in zip(questions, answers) {
            if question.question == "bad" {
                #expect(throws: Failure.self) { try answer.get() }
            } else {
                #expect(try answer.get() == question.question.uppercased())
            }
        }
        #expect(held.later.map(\.count).sorted(by: >) == [64] + Array(repeating: 1, count: 64))
        for question in questions {
            #expect(held.later.count { $0.contains(question.question) } <= 2, "\(question.question)")
        }
    }

    @Test("T-E12: while a failed batch is asked again, the next ones go on; its keys wait")
    func beside() async throws {
        let (alone, releases) = (AsyncStream.makeStream(of: Void.self), [Barrier(2), Barrier(2)])
        let asked = Mutex<[[String]]>([])
        let batcher = Batcher<String, String, String> { questions in
            let before = asked.withLock { asked in
                defer { asked.append(questions) }
                return asked.count { $0 == ["bad"] }
            }
            if questions == ["bad"] {
                alone.continuation.yield()
                await releases[before].wait()
            }
            if questions.contains("bad") { throw Failure() }
            return questions
        }
        // The bad one goes first and alone, and a batch waits for its end.
        let lone = Task { try await batcher.answer(to: "bad", for: "x") }
        for await _ in alone.stream { break }
        let pair = ["bad", "good"].map { name in Task { try await batcher.answer(to: name, for: "key \(name)") } }
        try await waitUntil { batcher.counts.waiting == 2 }
        await releases[0].wait()
        await #expect(throws: Failure.self) { try await lone.value }
        // The pair failed together; the bad half is held, and the others have their answers all the same.
        for await _ in alone.stream { break }
        #expect(try await pair[1].value == "good")
        #expect(try await batcher.answer(to: "next", for: "next") == "next")
        let same = Task { try await batcher.answer(to: "same key", for: "key bad") }
        try await waitUntil { batcher.counts.waiting == 1 }
        #expect(!asked.withLock { $0.contains { $0.contains("same key") } })
        await releases[1].wait()
        await #expect(throws: Failure.self) { try await pair[0].value }
        #expect(try await same.value == "same key")
    }

    @Test("T-E12: a question that fails by itself fails alone, and nothing is asked again")
    func ownFailure() async throws {
        let count = Mutex(0)
        let batcher = Batcher<String, String, String>(asking: { questions in
            count.withLock { $0 += 1 }
            return questions.map { $0 == "bad" ? .failure(Failure()) : .success($0) }
        })
        await #expect(throws: Failure.self) { try await batcher.answer(to: "bad", for: nil) }
        #expect(try await batcher.answer(to: "good", for: nil) == "good")
        #expect(count.withLock { $0 } == 2)
    }

    @Test(
        "T-E12: what may have run is not asked again, nor anything when there is no database",
        arguments: [.connectionLost, .decoding, .unavailable, .overloaded] as [PostgresError.Code]
    )
    func final(_ code: PostgresError.Code) async throws {
        let held = Held { questions in
            if questions == ["first"] { return ["FIRST"] }
            throw PostgresError(code)
        }
        for answer in try await ask([("a", "a"), ("b", "b"), ("c", "c")], held) {
            let error = #expect(throws: PostgresError.self) { try answer.get() }
            #expect(error?.code == code)
        }
        #expect(held.later.map(\.count) == [3])
    }

    @Test("T-E12: a batch that is too old is not asked again")
    func timeouts() async throws {
        for (patience, sizes) in [(Duration.seconds(3600), [9] + Array(repeating: 1, count: 9)), (.zero, [9])] {
            let held = Held { questions in
                if questions.contains("slow") { throw PostgresError(.timeout) }
                return questions.map { $0.uppercased() }
            }
            let questions = (0..<9).map { (key: "k\($0)" as String?, question: $0 == 3 ? "slow" : "q\($0)") }
            let answers = try await ask(questions, held, patience: patience)
            #expect(answers.count { if case .success = $0 { true } else { false } } == (patience == .zero ? 0 : 8))
            #expect(held.later.map(\.count) == sizes)
        }
    }

    @Test("when a batch fails its members are asked alone")
    func failures() async throws {
        let held = Held { questions in
            if questions.contains("bad") { throw Failure() }
            return questions.map { $0.uppercased() }
        }
        let answers = try await ask([("a", "a"), ("x", "bad"), ("b", "b")], held)
        #expect(try answers[0].get() == "A")
        #expect(throws: Failure.self) { try answers[1].get() }
        #expect(try answers[2].get() == "B")
        #expect(held.later.map(\.count).sorted(by: >) == [3, 1, 1, 1])
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
