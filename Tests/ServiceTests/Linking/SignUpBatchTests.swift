import Development
import IdentityService
import Postgres
import Projects
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
            // The first one's statement waits for the address, and the others for its end.
            try await transaction.execute(
                """
                INSERT INTO account_emails (project, tenant, email_key, account)
                VALUES (\(world.service.project.id.rawValue), '', 'head@example.com', 'nobody')
                """
            )
            let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
            let first = Task { try await world.acme(head) }
            try await waitUntil {
                let blocked = try await TestDatabase.current.client.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                ) { try $0.next(Int64.self) }
                return blocked == [1]
            }
            let others = signIns.map { signIn in Task { try await signIn() } }
            try await waitUntil {
                world.service.stores.batchCounts.contains {
                    $0.name == "sign_up" && $0.counts.waiting == signIns.count
                }
            }
            try await meanwhile()
            try await transaction.execute("DELETE FROM account_emails WHERE account = 'nobody'")
            return (first, others)
        }
        try await first.value.expectSignedIn(new: true)
        var replies: [Reply] = []
        for task in others { replies.append(try await task.value) }
        return replies
    }

    private static func people(_ count: Int, _ world: LinkingWorld) -> [TestUser] {
        (0..<count).map { world.person("P\($0)", email: "p\($0)@example.com") }
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
                #expect(reply.claims["email"] == .string("p\(number)@example.com"))
                #expect(try await world.service.refresh(reply.refreshToken ?? "").status == 200)
                let again = try await world.acme(people[number])
                #expect(again.localID == reply.localID)
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
                    #expect(taken.status == 200, "\(taken)")
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

    @Test("of more than the limit of their address as many get in as fit, and others of other addresses")
    func limits() async throws {
        var options = LinkingWorld.options { $0.rateLimits[.signUpsPerAddress].count = 2 }
        options.limitsRates = true
        options.limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
        try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let places = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.1"]
            let signIns = try zip(Self.people(4, world), places).map { person, place -> SignIn in
                let token = try world.acme.mintIDToken(for: person)
                let body: JSON = [
                    "requestUri": "http://localhost", "returnSecureToken": true,
                    "postBody": .string("id_token=\(token)&providerId=oidc.acme"),
                ]
                return { try await service.call("accounts:signInWithIdp", body, from: place) }
            }
            let replies = try await Self.together(world, signIns)
            let refused = replies.prefix(3).filter { $0.status != 200 }
            #expect(refused.map(\.error) == [LimitScene.blocked])
            replies[3].expectSignedIn(new: true)
            let accounts = try await Self.column("email", of: "accounts", world)
            #expect(accounts.count == 4, "the first one, two of the one address, one of the other")
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
}
