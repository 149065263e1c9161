import Development
import Postgres
import Projects
import Storage
import Synchronization
import TestKit
import Testing

@Suite("Gates of projects", .timeLimit(.minutes(10)))
struct ProjectGateTests {
    private let gate = ProjectGate(width: 2, queueLimit: 8)

    /// Requests that stay inside until the exit opens.
    private final class Crowd: Sendable {
        let inside = Counter()
        let refused = Counter()
        let exit = TestGate()
        let order = Mutex<[String]>([])
    }

    private func come(_ count: Int, _ project: String, _ crowd: Crowd) throws -> [Task<Void, any Error>] {
        let id = try #require(ProjectID(rawValue: project))
        return (0..<count).map { _ in
            Task {
                do {
                    try await gate.pass(id) {
                        crowd.order.withLock { $0.append(project) }
                        crowd.inside.increment()
                        await crowd.exit.pass()
                    }
                } catch let error as PostgresError where error.code == .overloaded {
                    crowd.refused.increment()
                }
            }
        }
    }

    @Test("T-E11: one request of a project passes, eight wait, more are refused; two for all projects")
    func limits() async throws {
        let (tea, coffee, water) = (Crowd(), Crowd(), Crowd())
        var tasks = try come(12, "tea-room", tea)
        try await waitUntil { tea.refused.value == 3 }
        #expect(tea.inside.value == 1)
        tasks += try come(12, "coffee-house", coffee)
        try await waitUntil { coffee.refused.value == 3 }
        #expect(coffee.inside.value == 1)
        tasks += try come(12, "water-works", water)
        try await waitUntil { water.refused.value == 4 }
        #expect(water.inside.value == 0)
        for crowd in [tea, coffee, water] { crowd.exit.open() }
        for task in tasks { try await task.value }
        #expect([tea, coffee, water].map(\.inside.value) == [9, 9, 8])
        tasks = try come(1, "tea-room", tea)
        for task in tasks { try await task.value }
    }

    @Test("T-E11: projects take turns")
    func turns() async throws {
        let (held, crowd) = (Crowd(), Crowd())
        var tasks = try come(1, "tea-room", held)
        try await waitUntil { held.inside.value == 1 }
        tasks += try come(1, "coffee-house", crowd)
        try await waitUntil { crowd.inside.value == 1 }
        // Each is refused the ninth: then all others wait.
        let waiting = Crowd()
        waiting.exit.open()
        tasks += try come(9, "coffee-house", waiting)
        try await waitUntil { waiting.refused.value == 1 }
        tasks += try come(9, "water-works", waiting)
        try await waitUntil { waiting.refused.value == 2 }
        crowd.exit.open()
        try await waitUntil { waiting.inside.value == 16 }
        // One place, and the other is held.
        let order = waiting.order.withLock { $0 }
        #expect(zip(order, order.dropFirst()).allSatisfy { $0 != $1 }, "\(order)")
        held.exit.open()
        for task in tasks { try await task.value }
    }

    @Test("T-E11: a request that is cancelled while it waits leaves its place, and keeps no other from passing")
    func cancels() async throws {
        let crowd = Crowd()
        let holder = try come(1, "tea-room", crowd)
        try await waitUntil { crowd.inside.value == 1 }
        let waiting = try come(9, "tea-room", crowd)
        try await waitUntil { crowd.refused.value == 1 }
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        let last = try come(8, "tea-room", crowd)
        crowd.exit.open()
        for task in holder + last { try await task.value }
        #expect(crowd.inside.value == 9 && crowd.refused.value == 1)
    }
}
