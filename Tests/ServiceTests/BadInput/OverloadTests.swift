import Development
import IdentityService
import NIOCore
import Passwords
import Postgres
import Projects
import Storage
import Synchronization
import TestKit
import Testing

/// More than the service can do: it refuses with 503 in the form that SDKs survive, and recovers by itself.
@Suite("Overload", .database, .timeLimit(.minutes(10)))
struct OverloadTests {
    private static func all(
        _ count: Int,
        _ call: @escaping @Sendable (Int) async throws -> Reply
    ) async throws -> [Reply] {
        try await withThrowingTaskGroup(of: Reply.self) { group in
            for number in 0..<count { group.addTask { try await call(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// 503 as plain text with `Retry-After`: JSON would sign people out.
    private static func isSurvivable(_ reply: Reply) -> Bool {
        reply.status == 503 && reply.response.text == "The service is currently unavailable.\n"
    }

    /// A service that gives a request a second, and a user whom another node of the project has taken its time for.
    private static func hurried(_ body: @Sendable (_ user: Reply, TestService) async throws -> Void) async throws {
        try await TestService.run { patient in
            let user = try await patient.call("accounts:signUp")
            var options = TestService.Options()
            (options.project, options.clock) = (patient.project, patient.clock)
            options.limits.time = .seconds(1)
            options.callsOverHTTP = true
            try await TestService.run(options) { service in try await body(user, service) }
        }
    }

    @Test("a stalled database: refresh and lookup end with 503 in time, and go on when it does")
    func stalledDatabase() async throws {
        try await Self.hurried { user, service in
            try await service.stores.database.transaction { transaction in
                try await transaction.execute("LOCK TABLE sessions, accounts IN ACCESS EXCLUSIVE MODE")
                let replies = try await Self.all(64) { number in
                    number.isMultiple(of: 2)
                        ? try await service.refresh(user.refreshToken)
                        : try await service.call("accounts:lookup", ["idToken": JSON(user.idToken)])
                }
                #expect(
                    replies.allSatisfy(Self.isSurvivable),
                    "\(replies.first { !Self.isSurvivable($0) }?.description ?? "")"
                )
                // Sign-up is no call whose failure signs people out.
                let signUp = try await service.call("accounts:signUp")
                #expect(signUp.status == 503 && signUp.json["error"]?["status"] == "UNAVAILABLE", "\(signUp)")
            }
            // Nothing is left over from before; on a busy machine an answer may take its second once more.
            try await waitUntil { try await service.refresh(user.refreshToken).status == 200 }
            try await waitUntil {
                try await service.call("accounts:lookup", ["idToken": JSON(user.idToken)]).status == 200
            }
            #expect(service.stores.database.load.waiting == 0)
        }
    }

    @Test("T-E36: more requests at once than a network has room for: 503 at once, and others are served")
    func manyRequests() async throws {
        var options = try LimitScene.options()
        options.limits.requests = 32
        options.callsOverHTTP = true
        try await TestService.run(options) { service in
            let user = try await service.call("accounts:signUp")
            try await service.stores.database.transaction { transaction in
                try await transaction.execute("LOCK TABLE sessions, accounts IN ACCESS EXCLUSIVE MODE")
                let held = Task { try await Self.all(8) { _ in try await service.refresh(user.refreshToken) } }
                try await waitUntil { service.assembly.responder.requestsInFlight == 8 }
                let refused = try await Self.all(40) { _ in try await service.refresh(user.refreshToken) }
                #expect(refused.allSatisfy(Self.isSurvivable))
                let keys = "/v1/sessionCookiePublicKeys"
                let other = try await service.send("GET", keys, headers: [("X-Forwarded-For", "198.18.30.1")])
                other.expectOK()
                return held
            }.value.forEach { #expect($0.status == 200, "\($0)") }
            try await service.refresh(user.refreshToken).expectOK()
        }
    }

    @Test("T-E36: the statements of one network that wait are a quarter of all: others sign in", .database)
    func manyStatements() async throws {
        var options = try LimitScene.options()
        options.statementsThatWait = 16
        try await TestService.run(options) { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.33.1")
            let tasks = Counter()
            let refused = Counter()
            let crowd = TaskBox()
            let (database, isRefused) = (service.stores.database, TestGate())
            try await database.onEachConnection { _ in
                // All connections are taken until the crowd was refused.
                guard tasks.increment() == 1 else { return await isRefused.pass() }
                defer { isRefused.open() }
                try await waitUntil { tasks.value == database.connections }
                crowd.set(
                    Task {
                        try await Self.all(12) { number in
                            let address = "eve\(number)@example.com"
                            let reply = try await service.signIn(address, "wrong", from: "198.18.33.2")
                            if reply.status == 503 { refused.increment() }
                            return reply
                        }
                    }
                )
                try await waitUntil { refused.value >= 8 }
                crowd.setOther(
                    Task { try await service.signIn("ada@example.com", "correct horse", from: "198.18.33.3") }
                )
            }
            let (replies, other) = try await crowd.values()
            other.expectOK()
            #expect(replies.filter { $0.status == 503 }.count == 8, "\(replies)")
        }
    }

    /// What goes on beyond the closure that began it.
    private final class TaskBox: Sendable {
        private let crowd = Mutex<Task<[Reply], any Error>?>(nil)
        private let other = Mutex<Task<Reply, any Error>?>(nil)

        func set(_ task: Task<[Reply], any Error>) { crowd.withLock { $0 = task } }
        func setOther(_ task: Task<Reply, any Error>) { other.withLock { $0 = task } }

        func values() async throws -> ([Reply], Reply) {
            let (crowd, other) = (try #require(crowd.withLock { $0 }), try #require(other.withLock { $0 }))
            return (try await crowd.value, try await other.value)
        }
    }

    @Test("T-E9: a full queue of password hashes: 503, never another answer, no try used up, and room again afterwards")
    func fullHashQueue() async throws {
        let gate = Gate(isOpen: true)
        var options = try LimitScene.options()
        options.hashQueueLimit = 2
        options.hashShareLimit = 16
        options.callsOverHTTP = true
        options.beforeHash = { gate.wait() }
        try await TestService.run(options) { service in
            _ = try await service.call("accounts:signUp", ["email": "ada@example.com", "password": "correct"])
            let signIn: @Sendable (Int) async throws -> Reply = { _ in
                try await service.call(
                    "accounts:signInWithPassword",
                    ["email": "ada@example.com", "password": "correct"]
                )
            }
            gate.close()
            // Two run and two wait.
            let admitted = Task { try await Self.all(4, signIn) }
            try await waitUntil { service.passwords.load == 4 }
            for number in 0..<40 {
                let reply = try await signIn(number)
                #expect(reply.status == 503 && reply.json["error"]?["status"] == "UNAVAILABLE", "\(reply)")
            }
            gate.open()
            for reply in try await admitted.value { #expect(reply.status == 200, "\(reply)") }
            try await signIn(0).expectOK()
        }
    }

    @Test("T-E35: the hashes of one project are a quarter of all, and another's sign-in waits for none that waits")
    func neighboursHashes() async throws {
        let gate = Gate(isOpen: true)
        var options = try LimitScene.options()
        options.hashQueueLimit = 14
        options.callsOverHTTP = true
        options.beforeHash = { gate.wait() }
        try await TestService.run(options) { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.31.1")
            let configuration = service.stores.configuration
            let neighbour = try #require(ProjectID(rawValue: "neighbour-\(service.project.number)"))
            try await configuration.createProject(neighbour, settings: service.project.settings)
            let key = try await configuration.createAPIKey(for: neighbour, displayName: nil).rawValue
            gate.close()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let body: JSON = ["email": .string("u\(number)@example.com"), "password": "correct horse"]
                        return try await PlainHTTP.send(
                            "POST",
                            "\(service.baseURL)/v1/accounts:signUp?key=\(key)",
                            headers: [
                                ("Content-Type", "application/json"), ("X-Forwarded-For", "198.18.32.\(number)"),
                            ],
                            body: Array(body.text.utf8)
                        )
                        .status
                    }
                }
                // Two run, two wait; the others find the share taken.
                for _ in 0..<4 { #expect(try await group.next() == 503) }
                #expect(service.passwords.load == 4)
                group.addTask {
                    try await service.signIn("ada@example.com", "correct horse", from: "198.18.31.1").status
                }
                try await waitUntil { service.passwords.load == 5 }
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
        }
    }
}
