import Development
import Postgres
import Projects
import TestKit
import Testing

@Suite("Busy accounts", .database, .testProvider, .timeLimit(.minutes(10)))
struct BusyAccountTests {
    /// What takes a lock of an account that another request holds.
    enum Request: String, CaseIterable, Sendable {
        case change, signIn, signOut, refresh

        func send(_ service: TestService, _ user: Reply) async throws -> Reply {
            switch self {
            case .change:
                try await service.call("accounts:update", ["idToken": JSON(user.idToken), "displayName": "Ada"])
            case .signIn: try await service.signInWithPassword("ada@example.com")
            case .signOut:
                try await service.call("accounts:signOut", ["idToken": JSON(user.idToken), "scope": "others"])
            case .refresh: try await service.refresh(user.refreshToken)
            }
        }
    }

    @Test("T-E28: requests that wait for one account leave connections to the others", arguments: Request.allCases)
    func leavesConnections(_ request: Request) async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let other = try await service.signUp("grace@example.com")
            // The last use is to be stored.
            service.clock.advance(by: 120)
            let (busy, done) = (Counter(), Counter())
            let (held, end) = (TestGate(), TestGate())
            defer { end.open() }
            let project = service.project.id.rawValue
            async let holder: Void = TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("SELECT FROM accounts WHERE project = \(project) FOR UPDATE")
                try await transaction.execute("SELECT FROM sessions WHERE project = \(project) FOR UPDATE")
                held.open()
                await end.pass()
            }
            await held.pass()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        let reply = try await request.send(service, user)
                        if reply.error == "TOO_MANY_ATTEMPTS_TRY_LATER" { busy.increment() } else { done.increment() }
                    }
                }
                try await waitUntil { busy.value >= 14 }
                try await service.lookUp(other.idToken).expectOK()
                #expect(done.value == 0)
                end.open()
                try await group.waitForAll()
            }
            try await holder
            #expect(busy.value == 14 && done.value == 50)
        }
    }
}
