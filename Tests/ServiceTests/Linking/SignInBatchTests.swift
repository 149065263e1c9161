import Development
import Domain
import Federation
import Foundation
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import StrictJSON
import Testing
import TestKit

/// Sign-ins of known identities at the same moment, which share their statements.
@Suite("Sign-ins in batches", .database, .testProvider)
struct SignInBatchTests {
    /// People who have signed in before, each with the ID of the account.
    static func people(_ count: Int, _ world: LinkingWorld) async throws -> [(user: TestUser, id: String)] {
        var people: [(user: TestUser, id: String)] = []
        for number in 0..<count {
            let user = world.person("P\(number)", email: "p\(number)@example.com")
            people.append((user, try #require(try await world.acme(user).localID)))
        }
        return people
    }

    static func sessions(_ world: LinkingWorld) async throws -> [String: Int64] {
        let rows = try await world.service.stores.database.query(
            """
            SELECT account, count(*) FROM sessions WHERE project = \(world.service.project.id.rawValue)
            GROUP BY account
            """
        ) { row in (try row.next(String.self), try row.next(Int64.self)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("each gets its own account and session, however often the same person comes", .twoNodes)
    func manyAtOnce() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(12, world)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (user, id) in people + people + people {
                    group.addTask {
                        let reply = try await world.acme(user)
                        #expect(reply.status == 200 && reply.localID == id, "\(reply)")
                        try await world.service.refresh(reply.refreshToken ?? "").expectOK()
                    }
                }
                try await group.waitForAll()
            }
            let sessions = try await Self.sessions(world)
            for (_, id) in people { #expect(sessions[id] == 4) }
        }
    }

    @Test("a refused one, and a one-time token that comes twice, leave the others alone", .twoNodes)
    func refusals() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(8, world)
            try await world.update(people[0].id, ["disableUser": true])
            let once = try world.acme.mintIDToken(for: people[1].user, nonce: SecureHash.sha256Hex("n"))
            let before = try await Self.sessions(world)
            let replies = try await withThrowingTaskGroup(of: (String, Reply).self) { group in
                for (user, id) in people where id != people[1].id {
                    group.addTask { (id, try await world.acme(user)) }
                }
                for _ in 0..<3 {
                    group.addTask {
                        let body = "id_token=\(once)&nonce=n&providerId=oidc.acme"
                        return (people[1].id, try await world.service.signInWithIdP(postBody: body))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let after = try await Self.sessions(world)
            for (_, id) in people {
                let mine = replies.filter { $0.0 == id }.map(\.1)
                let good = mine.filter { $0.status == 200 }
                #expect(good.count == (id == people[0].id ? 0 : 1), "\(mine)")
                #expect((after[id] ?? 0) - (before[id] ?? 0) == Int64(good.count))
            }
            #expect(replies.filter { $0.0 == people[0].id }.allSatisfy { $0.1.error == "USER_DISABLED" })
            let repeated = replies.filter { $0.0 == people[1].id && $0.1.status != 200 }.map(\.1)
            #expect(
                repeated.allSatisfy { $0.error?.hasPrefix("MISSING_OR_INVALID_NONCE : Duplicate credential") == true }
            )
        }
    }

    @Test("a locked account makes only itself wait")
    func lockedAccount() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(12, world)
            let waiting = try await world.service.stores.database.transaction { transaction in
                try await transaction.execute("SELECT FROM accounts WHERE account = \(people[0].id) FOR UPDATE")
                let waiting = Task { try await world.acme(people[0].user) }
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for (user, _) in people.dropFirst() { group.addTask { try await world.acme(user) } }
                    for try await reply in group { #expect(reply.status == 200, "\(reply)") }
                }
                return waiting
            }
            let late = try await waiting.value
            #expect(late.status == 200 && late.localID == people[0].id, "\(late)")
        }
    }

    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case disabled
        case unlinked
        case passwordReset = "given another password and address by an admin"

        var testDescription: String { rawValue }

        func callAsFunction(_ id: String, _ world: LinkingWorld) async throws {
            switch self {
            case .disabled: try await world.update(id, ["disableUser": true])
            case .unlinked: try await world.update(id, ["deleteProvider": ["oidc.acme"]])
            case .passwordReset: try await world.update(id, ["email": "other@example.com", "password": "another one"])
            }
        }
    }

    @Test("T-A10: what became of an account while its sign-in waited for a batch counts", arguments: Change.allCases)
    func changedMeanwhile(_ change: Change) async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(2, world)
            let database = world.service.stores.database
            let before = try await Self.sessions(world)
            let (first, second) = try await database.transaction { transaction in
                // The first one's statement waits for its activity, and the second one's for its end.
                try await transaction.execute("SELECT FROM account_activity WHERE account = \(people[0].id) FOR UPDATE")
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                let first = Task { try await world.acme(people[0].user) }
                try await waitUntil {
                    let blocked = try await TestDatabase.current.client.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                    ) { try $0.next(Int64.self) }
                    return blocked == [1]
                }
                let second = Task { try await world.acme(people[1].user) }
                try await waitUntil {
                    world.service.stores.batchCounts.contains { $0.name == "sign_in" && $0.counts.waiting == 1 }
                }
                try await change(people[1].id, world)
                return (first, second)
            }
            try await first.value.expectOK()
            let reply = try await second.value
            let after = try await Self.sessions(world)
            switch change {
            case .disabled:
                #expect(reply.error == "USER_DISABLED", "\(reply)")
                #expect(after[people[1].id] == before[people[1].id])
            case .unlinked:
                // Decided anew: the address is the account's own and verified, so the identity is linked again.
                #expect(reply.status == 200 && reply.localID == people[1].id, "\(reply)")
                let linked = try await database.query(
                    "SELECT provider FROM credential_subjects WHERE account = \(people[1].id)"
                ) { try $0.next(String.self) }
                #expect(linked == ["oidc.acme"])
            case .passwordReset:
                #expect(reply.status == 200 && reply.localID == people[1].id, "\(reply)")
                #expect(reply.claims["email"]?.string == "other@example.com", "of the account as it is now")
            }
        }
    }

    @Test(
        "T-A10: what became of an account while its sign-in waited for its lock counts, with batches and without",
        arguments: [true, false],
        [Change.disabled, .unlinked]
    )
    func changedUnderLock(batches: Bool, _ change: Change) async throws {
        var options = LinkingWorld.options()
        options.batches = batches
        try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let (user, id) = try await Self.people(1, world)[0]
            let before = try await Self.sessions(world)[id]
            let reply = try await Race.run(service) { transaction in
                try await transaction.execute(
                    """
                    UPDATE accounts SET version = version + 1, disabled = \(change == .disabled),
                        methods = CASE WHEN \(change == .unlinked) THEN '{password}' ELSE methods END
                    WHERE account = \(id)
                    """
                )
                guard change == .unlinked else { return }
                try await transaction.execute("DELETE FROM credential_subjects WHERE account = \(id)")
                try await transaction.execute("DELETE FROM linked_credentials WHERE account = \(id)")
            } _: {
                try await world.acme(user)
            }
            let linked = try await service.stores.database.query(
                "SELECT provider FROM credential_subjects WHERE account = \(id)"
            ) { try $0.next(String.self) }
            switch change {
            case .unlinked:
                // Decided anew: the address is the account's own and verified, so the identity is linked again.
                #expect(reply.status == 200 && reply.localID == id, "\(reply)")
            default:
                #expect(reply.error == "USER_DISABLED", "\(reply)")
                #expect(try await Self.sessions(world)[id] == before)
            }
            #expect(linked == ["oidc.acme"])
        }
    }

    @Test("T-C1: an identity linked under another issuer signs no one in and opens no session")
    func anotherIssuer() async throws {
        try await LinkingWorld.run { world in
            let (user, id) = try await Self.people(1, world)[0]
            let before = try #require(try await Self.sessions(world)[id])
            for (issuer, isGood) in [("https://before.example", false), ("", true)] {
                try await world.service.stores.database.execute(
                    "UPDATE credential_subjects SET issuer = \(issuer) WHERE account = \(id)"
                )
                let reply = try await world.acme(user)
                #expect(
                    isGood ? reply.localID == id : reply.error?.hasPrefix("INVALID_IDP_RESPONSE") == true,
                    "\(reply)"
                )
                #expect(try await Self.sessions(world)[id] == before + (isGood ? 1 : 0))
            }
        }
    }

    @Test(
        "T-A10: a statement that runs again, as its connection was lost, signs in once, unless that was ended since",
        arguments: [true, false]
    )
    func runsAgain(isOneTime: Bool) async throws {
        try await LinkingWorld.run { world in
            let (user, id) = try await Self.people(1, world)[0]
            let (stores, scope) = (world.service.stores, Scope(project: world.service.project.id))
            let issuer = try await stores.database.query(
                "SELECT issuer FROM credential_subjects WHERE account = \(id)"
            ) { try $0.next(String.self) }
            let identity = FederatedIdentity(provider: LinkingWorld.acmeID, subject: user.subject, issuer: issuer[0])
            var credential = FederatedCredential(
                identity: identity,
                tokens: ProviderTokens(),
                rawUserInfo: "{}",
                federatedID: user.subject
            )
            if isOneTime {
                let token = Data(#"{"hash": [1], "expiresAt": 4000000000}"#.utf8)
                credential.oneTimeToken = try JSONDecoder().decode(FederatedCredential.OneTimeToken.self, from: token)
            }
            let account = try #require(try await stores.accounts.find(AccountID(id), session: nil, in: scope)?.account)
            func signIn() -> () async throws -> Bool {
                let session = NewSession(
                    id: SessionID(random: .system),
                    secretHash: [1],
                    evidence: Evidence(newAccount: account, at: 0),
                    signInProvider: LinkingWorld.acmeID
                )
                let write = SignInWrite(
                    scope: scope,
                    credential: credential,
                    session: .open(session),
                    now: Date(),
                    allowsUnconfiguredProvider: false
                )
                return { try await stores.accounts.candidates(for: identity, opening: write, in: scope).isOpened }
            }
            let before = try #require(try await Self.sessions(world)[id])
            let first = signIn()
            #expect(try await [first(), first(), first()] == [true, true, true])
            #expect(try await Self.sessions(world)[id] == before + 1)
            let second = signIn()
            #expect(try await second() == !isOneTime)
            let entries = try await stores.database.query(
                "SELECT count(*) FROM audit_log WHERE account = \(id) AND action = 'SIGNED_IN'"
            ) { try $0.next(Int64.self) }
            #expect(entries == [isOneTime ? 1 : 2])
            // What ended the session between two runs counts.
            for (end, undo): (SQL, SQL) in [
                (
                    "UPDATE accounts SET valid_since = valid_since + 1",
                    "UPDATE accounts SET valid_since = valid_since - 1"
                ),
                ("UPDATE sessions SET revoked_at = now()", "UPDATE sessions SET revoked_at = NULL"),
            ] {
                try await stores.database.execute("\(sql: end) WHERE account = \(id)")
                #expect(try await first() == false)
                try await stores.database.execute("\(sql: undo) WHERE account = \(id)")
                #expect(try await first())
            }
        }
    }
}
