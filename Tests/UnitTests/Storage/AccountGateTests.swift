import Development
import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Account gate", .timeLimit(.minutes(10)))
struct AccountGateTests {
    private let gate = AccountGate()
    private let ada = AccountID("ada")
    private let scope: Scope

    init() throws { scope = Scope(project: try #require(ProjectID(rawValue: "tea-garden"))) }

    /// Requests that stay inside until the exit opens.
    private struct Crowd: Sendable {
        let inside = Counter()
        let refused = Counter()
        let exit = TestGate()
    }

    private func come(_ count: Int, _ lane: AccountGate.Lane, _ crowd: Crowd) -> [Task<Void, any Error>] {
        (0..<count).map { _ in
            Task {
                do {
                    try await gate.pass(ada, in: scope, lane) {
                        crowd.inside.increment()
                        await crowd.exit.pass()
                    }
                } catch is AccountBusy {
                    crowd.refused.increment()
                }
            }
        }
    }

    @Test("T-E28: two write an account at a time, 48 wait, more are refused; other accounts and lanes pass")
    func limits() async throws {
        let crowd = Crowd()
        let tasks = come(56, .change, crowd)
        try await waitUntil { crowd.refused.value == 6 }
        #expect(crowd.inside.value == 2)
        try await gate.pass(ada, in: scope, .signIn) {}
        try await gate.pass(AccountID("eve"), in: scope, .change) {}
        crowd.exit.open()
        for task in tasks { try await task.value }
        #expect(crowd.inside.value == 50 && crowd.refused.value == 6)
        let next = Crowd()
        let others = come(56, .change, next)
        try await waitUntil { next.refused.value == 6 && next.inside.value == 2 }
        next.exit.open()
        for task in others { try await task.value }
    }

    @Test("T-E28: a request that is cancelled while it waits leaves its place, and keeps no other from passing")
    func cancels() async throws {
        let crowd = Crowd()
        let holders = come(2, .signIn, crowd)
        try await waitUntil { crowd.inside.value == 2 }
        let waiting = come(56, .signIn, crowd)
        try await waitUntil { crowd.refused.value == 8 }
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        let last = come(48, .signIn, crowd)
        crowd.exit.open()
        for task in holders + last { try await task.value }
        #expect(crowd.inside.value == 50 && crowd.refused.value == 8)
    }
}
