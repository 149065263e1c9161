import Development
import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("Requests that arrive together, over two nodes", .database, .testProvider, .serialized)
struct ConcurrencyTests {
    /// Runs `body` `count` times at once, on the nodes in turn.
    private func together(
        _ count: Int,
        _ first: LinkingWorld,
        _ second: LinkingWorld,
        _ body: @escaping @Sendable (Int, LinkingWorld) async throws -> Reply
    ) async throws -> [Reply] {
        try await withThrowingTaskGroup(of: (Int, Reply).self) { tasks in
            for number in 0..<count {
                let world = number.isMultiple(of: 2) ? first : second
                tasks.addTask { (number, try await body(number, world)) }
            }
            var replies: [(Int, Reply)] = []
            for try await reply in tasks { replies.append(reply) }
            return replies.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func withTwoNodes(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (LinkingWorld, LinkingWorld) async throws -> Void
    ) async throws {
        try await TestService.runPair(LinkingWorld.options(change)) { first, second in
            let world = try await LinkingWorld(first)
            try await second.stores.configuration.refresh()
            try await body(world, world.on(second))
        }
    }

    @Test("64 first sign-ins of one identity give one account and 64 successes, one of them new")
    func opensOneAccount() async throws {
        try await withTwoNodes { first, second in
            for (subject, email) in [("R", "ada@example.com"), ("nameless", nil)] as [(String, String?)] {
                let person = first.person(subject, email: email)
                let replies = try await together(64, first, second) { _, world in try await world.acme(person) }
                for reply in replies { #expect(reply.status == 200, "\(reply)") }
                #expect(Set(replies.map(\.localID)).count == 1)
                #expect(replies.count { $0["isNewUser"] == true } == 1)
                #expect(Set(replies.compactMap(\.refreshToken)).count == 64)
                let owner = try #require(replies.first?.localID)
                #expect(try await first.service.account(owner)?.providers == ["oidc.acme"])
                let sessions = try await first.service.admin("accounts:listSessions", ["localId": .string(owner)])
                #expect(sessions["sessions"]?.array?.count == 64)
            }
            let users = try await first.service.admin("accounts:batchGet")["users"]?.array
            #expect(users?.count == 2)
        }
    }

    @Test("first sign-ins of different identities with one address give one account")
    func linksToOneAccount() async throws {
        try await withTwoNodes { first, second in
            let person = first.person()
            let other = first.googlePerson()
            let replies = try await together(32, first, second) { number, world in
                number % 4 < 2 ? try await world.acme(person) : try await world.google(other)
            }
            for reply in replies { #expect(reply.status == 200, "\(reply)") }
            #expect(Set(replies.map(\.localID)).count == 1)
            #expect(replies.count { $0["isNewUser"] == true } == 1)
            let account = try await first.service.account(replies.first?.localID)
            #expect(account?.providers == ["google.com", "oidc.acme"])
        }
    }

    @Test("an account takes its identity's email while another one signs up with it: one of them has it")
    func takesEmailOrNot() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<8 {
                let email = "ada\(round)@example.com"
                let made = try await first.acme(first.person("R\(round)", email: nil))
                let named = first.person("R\(round)", email: email)
                let replies = try await together(2, first, second) { number, world in
                    number == round % 2 ? try await world.acme(named) : try await world.service.signUp(email)
                }
                let (signIn, signUp) = (replies[round % 2], replies[1 - round % 2])
                #expect(signIn.status == 200 && signIn.localID == made.localID, "\(signIn)")
                let mine = try await first.service.account(made.localID)?["email"]?.string
                #expect(signIn.claims["email"]?.string == mine)
                if signUp.status == 200 {
                    #expect(mine == nil)
                } else {
                    signUp.expectRefused("EMAIL_EXISTS")
                    #expect(mine == email)
                }
            }
            try await first.service.expectConsistentClaims()
        }
    }

    @Test("64 sign-ups for one address give one account, and 63 are told that it exists")
    func signsUpOnce() async throws {
        try await withTwoNodes { first, second in
            let replies = try await together(64, first, second) { number, world in
                try await world.service.signUp(number.isMultiple(of: 3) ? "Ada@Example.com" : "ada@example.com")
            }
            #expect(replies.count { $0.status == 200 } == 1)
            #expect(replies.count { $0.error == "EMAIL_EXISTS" } == 63)
            let users = try await first.service.admin("accounts:batchGet")["users"]?.array
            #expect(users?.count == 1)
            #expect(users?.first?["localId"] == replies.first { $0.status == 200 }?["localId"])
        }
    }

    @Test("sign-ups and provider sign-ins for one address at once: one account, and no stranger's password in it")
    func signsUpAgainstAProvider() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<5 {
                let email = "ada\(round)@example.com"
                let person = first.person("R\(round)", email: email)
                let replies = try await together(16, first, second) { number, world in
                    number % 4 < 2 ? try await world.acme(person) : try await world.service.signUp(email)
                }
                let accounts = Set(replies.compactMap(\.localID))
                #expect(accounts.count == 1, "\(replies.map(\.description))")
                let account = try await first.service.account(accounts.first)
                #expect(account?.providers == ["oidc.acme"])
                #expect(account?["emailVerified"] == true)
                try await first.service.signInWithPassword(email).expectRefused("INVALID_PASSWORD")
                for reply in replies where reply["providerId"] == nil && reply.status == 200 {
                    #expect(try await first.service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
                }
            }
        }
    }

    @Test("T-A13: parallel unlinks of all methods leave exactly one")
    func keepsOneMethod() async throws {
        try await withTwoNodes { first, second in
            let providers = (0..<6).map { ProviderID("oidc.p\($0)") }
            for provider in providers {
                try await first.service.configure(first.acme.configuration(as: provider))
            }
            try await second.service.stores.configuration.refresh()
            for round in 0..<RaceRounds.count {
                let user = try await first.service.call("accounts:signUp")
                for provider in providers {
                    let link: JSON = ["providerId": .string(provider.rawValue), "rawId": .string("L\(round)")]
                    try await first.update(user.localID, ["linkProviderUserInfo": link])
                }
                let replies = try await together(providers.count, first, second) { number, world in
                    try await world.service.call(
                        "accounts:update",
                        ["idToken": JSON(user.idToken), "deleteProvider": [.string(providers[number].rawValue)]]
                    )
                }
                let refused = replies.filter { $0.status != 200 }
                #expect(refused.count == 1)
                refused.first?.expectRefused("OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed.")
                #expect(try await first.service.account(user.localID)?.providers.count == 1)
            }
        }
    }

    @Test("T-D5: 64 redemptions of one pending credential link it once, to one account")
    func redeemsOnce() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<max(5, RaceRounds.count / 10) {
                let email = "ada\(round)@example.com"
                let owner = try await first.account(
                    ["email": .string(email), "emailVerified": true, "password": "correct horse"]
                )
                let conflict = try await first.acme(first.person("R\(round)", email: email, verified: false))
                conflict.expectConflict(with: owner, providers: [])
                let rivals = try await together(4, first, second) { _, world in
                    try await world.service.call("accounts:signUp")
                }
                // The address is given up, so that every rival could have the identity.
                try await first.update(owner, ["email": .string("moved\(round)@example.com")])
                let renewed = try await first.service.signInWithPassword("moved\(round)@example.com")
                let tokens = [renewed.idToken] + rivals.map(\.idToken)
                let replies = try await together(64, first, second) { number, world in
                    try await world.resume(conflict.pendingToken, idToken: tokens[number % tokens.count])
                }
                let successes = replies.filter { $0.idToken != nil }
                #expect(!successes.isEmpty)
                #expect(Set(successes.map(\.localID)).count == 1, "one account has it")
                let winner = try #require(replies.firstIndex { $0.idToken != nil }) % tokens.count
                for (number, reply) in replies.enumerated() where number % tokens.count == winner {
                    #expect(reply.idToken != nil, "the same request gets the same answer: \(reply)")
                }
                for reply in replies where reply.idToken == nil {
                    let message = reply["errorMessage"]?.string ?? reply.error
                    #expect(
                        ["FEDERATED_USER_ID_ALREADY_LINKED", "EMAIL_EXISTS", "INVALID_PENDING_TOKEN"]
                            .contains(message),
                        "\(reply)"
                    )
                }
                let found = try await first.service.admin(
                    "accounts:lookup",
                    ["federatedUserId": [["providerId": "oidc.acme", "rawId": .string("R\(round)")]]]
                )
                #expect(found["users"]?.array?.count == 1)
                #expect(found["users"]?[0]?["localId"] == successes.first?["localId"])
            }
        }
    }

    struct Ending: Sendable, CustomTestStringConvertible {
        var name: String
        var path: String
        var members: JSON
        /// What a refresh says afterwards.
        var error: String
        var testDescription: String { name }
    }

    @Test(
        "T-D6: no refresh succeeds after an account was deleted, disabled or revoked",
        arguments: [
            Ending(name: "deleted", path: "accounts:delete", members: [:], error: "USER_NOT_FOUND"),
            Ending(name: "disabled", path: "accounts:update", members: ["disableUser": true], error: "USER_DISABLED"),
            Ending(
                name: "revoked",
                path: "accounts:update",
                members: ["validSince": "4102444800"],
                error: "TOKEN_EXPIRED"
            ),
            Ending(name: "signed out", path: "accounts:signOut", members: [:], error: "TOKEN_EXPIRED"),
        ]
    )
    func refreshesNothingAfterwards(ending: Ending) async throws {
        try await withTwoNodes { first, second in
            for _ in 0..<5 {
                let user = try await first.service.call("accounts:signUp")
                let started = AsyncStream.makeStream(of: Void.self)
                let ended = Counter()
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for world in [first, second, first, second] {
                        tasks.addTask {
                            // Refreshes until it fails; what was begun after the end must fail.
                            while true {
                                let isOver = ended.value > 0
                                let reply = try await world.service.refresh(user.refreshToken)
                                started.continuation.yield()
                                guard reply.status == 200 else {
                                    #expect(reply.error == ending.error)
                                    return
                                }
                                guard !isOver else {
                                    Issue.record("refreshed after the end: \(reply)")
                                    return
                                }
                            }
                        }
                    }
                    for await _ in started.stream.prefix(8) {}
                    let body = ending.members.merging(["localId": JSON(user.localID)])
                    let reply = try await first.service.admin(ending.path, body)
                    reply.expectOK()
                    ended.increment()
                    for world in [first, second] {
                        let late = try await world.service.refresh(user.refreshToken)
                        #expect(late.error == ending.error, "\(late)")
                        #expect(try await world.service.lookUp(user.idToken).error == ending.error)
                    }
                    try await tasks.waitForAll()
                }
            }
        }
    }

    @Test("a link that loses three times against changes of its account comes through all the same")
    func outlastsChanges() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let id = try #require(user.localID)
            let person = world.person(email: "other@example.com")
            let locked = Barrier(2)
            let ended = Counter()
            let link = Task {
                await locked.wait()
                defer { ended.increment() }
                return try await world.acme(person, idToken: user.idToken)
            }
            try await Self.change(id, times: 3, unless: { ended.value > 0 }) { await locked.wait() }
            let reply = try await link.value
            #expect(reply.status == 200 && reply.localID == id, "\(reply)")
            #expect(try await world.service.account(id)?.providers.contains("oidc.acme") == true)
        }
    }

    /// Changes an account, and again when whoever waited for that has looked at it anew and waits once more.
    ///
    /// - Parameter isOver: nobody will wait any more: on a busy machine it may have come between two changes.
    private static func change(
        _ id: String,
        times: Int,
        unless isOver: @escaping @Sendable () -> Bool,
        whenLocked: @escaping @Sendable () async -> Void = {}
    ) async throws {
        let client = TestDatabase.current.client
        let next = try await client.transaction { transaction -> Task<Void, any Error>? in
            try await transaction.execute("SELECT FROM accounts WHERE account = \(id) FOR UPDATE")
            await whenLocked()
            let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first ?? 0
            let blocked: @Sendable () async throws -> Bool = {
                try await client.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE \(holder) = ANY (pg_blocking_pids(pid))"
                ) { try $0.next(Int64.self) } == [1]
            }
            try await waitUntil {
                if isOver() { return true }
                return try await blocked()
            }
            var next: Task<Void, any Error>?
            if times > 1 {
                next = Task { try await change(id, times: times - 1, unless: isOver) }
                // It waits behind the other one.
                try await waitUntil {
                    let behind = try await client.query(
                        """
                        SELECT count(*) FROM pg_stat_activity a WHERE EXISTS (
                            SELECT FROM unnest(pg_blocking_pids(a.pid)) b
                            WHERE b = \(holder) OR \(holder) = ANY (pg_blocking_pids(b))
                        )
                        """
                    ) { try $0.next(Int64.self) }
                    return behind == [2] || isOver()
                }
            }
            try await transaction.execute("UPDATE accounts SET version = version + 1 WHERE account = \(id)")
            return next
        }
        try await next?.value
    }
}
