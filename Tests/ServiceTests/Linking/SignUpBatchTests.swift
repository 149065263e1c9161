import Development
import IdentityService
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// People who come for the first time at the same moment, whose accounts share a statement.
@Suite("First sign-ins in batches", .database, .testProvider, .serialized)
struct SignUpBatchTests {
    private typealias SignIn = @Sendable () async throws -> Reply

    /// Runs first sign-ins that wait for a statement and are asked together.
    ///
    /// - Parameter meanwhile: what happens while they wait.
    private static func together(
        _ world: LinkingWorld,
        _ signIns: [SignIn],
        meanwhile: @Sendable () async throws -> Void = {}
    ) async throws -> [Reply] {
        let head = world.person("head", email: "head@example.com")
        let (first, others) = try await world.service.stores.database.transaction { transaction in
            // The first one's statement waits for a table that nothing before it needs, and the others for its end.
            try await transaction.execute("LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE")
            let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
            let first = Task { try await world.acme(head) }
            try await untilBlocked(by: holder)
            let others = signIns.map { signIn in Task { try await signIn() } }
            try await waitUntil {
                world.service.stores.batchCounts.contains {
                    $0.name == "sign_up" && $0.counts.waiting == signIns.count
                }
            }
            try await meanwhile()
            return (first, others)
        }
        try await first.value.expectSignedIn(new: true)
        var replies: [Reply] = []
        for task in others { replies.append(try await task.value) }
        return replies
    }

    /// Until one connection waits for another.
    private static func untilBlocked(by holder: Int32?) async throws {
        try await waitUntil {
            let blocked = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
            ) { try $0.next(Int64.self) }
            return blocked == [1]
        }
    }

    private static func people(_ count: Int, _ world: LinkingWorld) -> [TestUser] {
        (0..<count).map { number in
            var user = TestUser("P\(number)", email: "p\(number)@example.com", emailVerified: true, name: "P\(number)")
            if number.isMultiple(of: 2) { user.picture = "https://example.com/p\(number).png" }
            return world.acme.addUser(user)
        }
    }

    /// A column of each row of a table in the project.
    private static func column(_ column: SQL, of table: SQL, _ world: LinkingWorld) async throws -> [String] {
        try await world.service.stores.database.query(
            """
            SELECT \(sql: column)::text FROM \(sql: table) WHERE project = \(world.service.project.id.rawValue)
            ORDER BY 1
            """
        ) { try $0.next(String.self) }
    }

    @Test("each gets an account of their own, with one statement for all")
    func manyAtOnce() async throws {
        try await LinkingWorld.run { world in
            let people = Self.people(12, world)
            let (count, replies) = try await StatementCount.during {
                try await Self.together(world, people.map { person in { try await world.acme(person) } })
            }
            for (number, reply) in replies.enumerated() {
                reply.expectSignedIn(new: true)
                try await world.service.refresh(reply.refreshToken ?? "").expectOK()
                let account = try #require(try await world.service.account(reply.localID))
                let picture = number.isMultiple(of: 2) ? "https://example.com/p\(number).png" : nil
                let linked = account["providerUserInfo"]?.array?.first
                for own in [account, try #require(linked)] {
                    #expect(own["email"] == .string("p\(number)@example.com"))
                    #expect(own["displayName"] == .string("P\(number)"))
                    #expect(own["photoUrl"]?.string == picture)
                }
                #expect(account["localId"]?.string == reply.localID)
                #expect(linked?["rawId"] == .string("P\(number)"))
                #expect(try await world.acme(people[number]).localID == reply.localID)
            }
            #expect(Set(replies.map(\.localID)).count == 12)
            // The first one's, and one for all others.
            let asked = count.statements.filter { $0.text.contains("INSERT INTO linked_credentials") }
            #expect(asked.reduce(0) { $0 + $1.calls } == 2, "\(count)")
            let entries = try await Self.column(
                "concat_ws(' ', action, account, provider, actor, resource IS NOT NULL)",
                of: "audit_log",
                world
            )
            #expect(entries.filter { $0.hasPrefix("ACCOUNT_CREATED") }.count == 13, "\(entries)")
            for reply in replies {
                #expect(entries.contains("ACCOUNT_CREATED \(reply.localID ?? "") oidc.acme account t"), "\(entries)")
            }
        }
    }

    @Test("S7, S9: one whose address an account took meanwhile is decided anew, and the others sign in")
    func takenAddress() async throws {
        try await LinkingWorld.run { world in
            let people = Self.people(6, world)
            let replies = try await Self.together(world, people.map { person in { try await world.acme(person) } }) {
                for number in [1, 4] {
                    let taken = try await world.service.call(
                        "accounts:signUp",
                        ["email": .string("p\(number)@example.com"), "password": "correct horse"]
                    )
                    taken.expectOK()
                }
            }
            for (number, reply) in replies.enumerated() {
                reply.expectSignedIn(new: ![1, 4].contains(number))
                #expect(reply.claims["email"] == .string("p\(number)@example.com"))
            }
            // Nobody had proved the passwords' addresses (threats.md, T-A1).
            let accounts = try await Self.column("concat_ws(' ', email, methods)", of: "accounts", world)
            #expect(accounts == (["head"] + people.indices.map { "p\($0)" }).map { "\($0)@example.com {oidc.acme}" })
        }
    }

    /// A sign-in by somebody at an address.
    private static func signIn(_ person: TestUser, from place: String, _ world: LinkingWorld) throws -> SignIn {
        let token = try world.acme.mintIDToken(for: person)
        let body: JSON = [
            "requestUri": "http://localhost", "returnSecureToken": true,
            "postBody": .string("id_token=\(token)&providerId=oidc.acme"),
        ]
        return { try await world.service.call("accounts:signInWithIdp", body, from: place) }
    }

    private static func limited(_ change: @Sendable (inout ProjectSettings) -> Void) throws -> TestService.Options {
        var options = LinkingWorld.options(change)
        options.limitsRates = true
        options.limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
        return options
    }

    @Test("of more than the limit of their address as many get in as fit, and others of other addresses")
    func limits() async throws {
        try await TestService.run(try Self.limited { _ in }) { service in
            let world = try await LinkingWorld(service)
            try await service.signUp("first@example.com", from: "192.0.2.1").expectOK()
            // Of a hundred in an hour, two are left.
            try await service.stores.database.execute(
                "UPDATE rate_limits SET expires_at = expires_at + interval '3492 s'"
            )
            let places = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.1"]
            let signIns = try zip(Self.people(4, world), places).map { try Self.signIn($0, from: $1, world) }
            let replies = try await Self.together(world, signIns)
            #expect(replies.prefix(3).filter { $0.status != 200 }.map(\.error) == [LimitScene.blocked])
            replies[3].expectSignedIn(new: true)
            let accounts = try await Self.column("email", of: "accounts", world)
            #expect(accounts.count == 5, "the first two, two of the one address, one of the other")
        }
    }

    @Test("T-E8: a sign-up that the project's own limit refuses does not count for all projects'")
    func ownLimit() async throws {
        try await TestService.run(try Self.limited { $0.rateLimits[.signUpsPerAddress].count = 2 }) { service in
            let world = try await LinkingWorld(service)
            for (number, person) in Self.people(4, world).enumerated() {
                let reply = try await Self.signIn(person, from: "192.0.2.7", world)()
                if number < 2 { reply.expectSignedIn(new: true) } else { #expect(reply.error == LimitScene.blocked) }
            }
            let key = SecureHash.sha256("17:signUpsPerAddress9:192.0.2.7")
            let level = try await service.stores.database.query(
                """
                SELECT round(extract(epoch FROM expires_at - \(service.clock.current)) / 36)::int8 FROM rate_limits
                WHERE project = '' AND key = \(key)
                """
            ) { try $0.next(Int64.self) }
            #expect(level == [2], "of a hundred in an hour")
        }
    }

    @Test("a provider that is disabled meanwhile lets nobody in, and the others in")
    func disabledProvider() async throws {
        try await LinkingWorld.run { world in
            let people = Self.people(4, world)
            let stranger = world.googlePerson("9", email: "stranger@gmail.com")
            var signIns = people.map { person -> SignIn in { try await world.acme(person) } }
            signIns.append { try await world.google(stranger) }
            let replies = try await Self.together(world, signIns) {
                try await TestDatabase.current.client.execute(
                    "UPDATE provider_configurations SET enabled = false WHERE provider = 'google.com'"
                )
            }
            #expect(replies.last?.error?.hasPrefix("OPERATION_NOT_ALLOWED") == true, "\(replies)")
            for reply in replies.dropLast() { reply.expectSignedIn(new: true) }
            let claims = try await Self.column("provider", of: "credential_subjects", world)
            #expect(claims == [String](repeating: "oidc.acme", count: 5), "nothing is left of the other")
        }
    }

    @Test("T-E12: the statement finds a used one-time token, and no other sign-up fails")
    func replayedToken() async throws {
        try await LinkingWorld.run { world in
            let people = Self.people(6, world)
            let once = try world.acme.mintIDToken(for: people[0], nonce: SecureHash.sha256Hex("n"))
            let replay: SignIn = {
                try await world.service.signInWithIdP(postBody: "id_token=\(once)&nonce=n&providerId=oidc.acme")
            }
            let account = try await replay()
            // Its account is gone, so that the next one seems to be the first sign-in.
            try await world.service.call("accounts:delete", ["idToken": JSON(account.idToken)]).expectOK()
            let (count, replies) = try await StatementCount.during {
                try await Self.together(
                    world,
                    [replay] + people.dropFirst().map { person in { try await world.acme(person) } }
                )
            }
            #expect(replies[0].error?.hasPrefix("MISSING_OR_INVALID_NONCE : Duplicate credential") == true)
            for reply in replies.dropFirst() { reply.expectSignedIn(new: true) }
            let asked = count.statements.filter { $0.text.contains("INSERT INTO linked_credentials") }
            #expect(asked.reduce(0) { $0 + $1.calls } == 2, "\(count)")
        }
    }

    @Test("T-E12: one who waits for a row makes nobody else wait")
    func heldAddress() async throws {
        try await LinkingWorld.run { world in
            let waiting = try await world.service.stores.database.transaction { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO account_emails (project, tenant, email_key, account)
                    VALUES (\(world.service.project.id.rawValue), '', 'head@example.com', 'nobody')
                    """
                )
                let head = world.person("head", email: "head@example.com")
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                let waiting = Task { try await world.acme(head) }
                try await Self.untilBlocked(by: holder)
                for person in Self.people(4, world) { try await world.acme(person).expectSignedIn(new: true) }
                try await transaction.execute("DELETE FROM account_emails WHERE account = 'nobody'")
                return waiting
            }
            try await waiting.value.expectSignedIn(new: true)
        }
    }
}
