import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import TestKit
import Testing
import Text

/// What applications ask for at the same moment, and shares a statement.
@Suite("Grants and browsers in batches", .database, .serialized)
struct GrantBatchTests {
    /// Asks several things together: behind one whose statement waits for a table's lock.
    ///
    /// - Returns: the answers, and how many statements of the kind all of them took.
    private static func together<Answer: Sendable>(
        _ kind: String,
        locking table: SQL,
        _ asks: [@Sendable () async throws -> Answer],
        _ service: TestService
    ) async throws -> (answers: [Answer], statements: Int) {
        let (count, answers) = try await StatementCount.during {
            let tasks = try await TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("LOCK TABLE \(sql: table) IN ACCESS EXCLUSIVE MODE")
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                var tasks: [Task<Answer, any Error>] = []
                for ask in asks {
                    tasks.append(Task { try await ask() })
                    let waiting = tasks.count - 1
                    try await waitUntil {
                        let blocked = try await transaction.query(
                            "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                        ) { try $0.next(Int64.self) }
                        return blocked == [1]
                            && service.stores.batchCounts.contains { $0.name == kind && $0.counts.waiting == waiting }
                    }
                }
                return tasks
            }
            var answers: [Answer] = []
            for task in tasks { answers.append(try await task.value) }
            return answers
        }
        let ofKind = kind == "grant" ? "oauth_clients WHERE project = s.project" : "n.asking"
        let statements = count.statements.filter { $0.text.contains(ofKind) }.reduce(0) { $0 + $1.calls }
        return (answers, statements)
    }

    /// A user of the scene's application, in a browser of their own, who allowed it.
    private static func person(_ number: Int, _ scene: OAuthScene) async throws -> (OAuthScene, code: String) {
        var own = scene
        own.browser = ScriptedBrowser()
        let email = "p\(number)@example.com"
        _ = try await own.service.signUp(email)
        let visit = try await own.press("allow", on: own.signIn(on: own.open(), email: email))
        return (own, try #require(visit.query["code"]))
    }

    @Test("T-E12: each account gets its own session; a used code and a withdrawn grant among them fail alone")
    func codes() async throws {
        try await OAuthScene.run { scene in
            var people: [(OAuthScene, code: String)] = []
            for number in 0..<7 { people.append(try await Self.person(number, scene)) }
            let (used, withdrawn) = (people[2], people[4])
            let before = try await used.0.redeem(used.code)
            let named: JSON = ["email": ["p4@example.com"]]
            let id = try await scene.service.admin("accounts:lookup", named)["users"]?.array?.first?["localId"]
            try await scene.service.admin("accounts:signOut", ["localId": try #require(id)]).expectOK()
            let asks = people.map { person in { @Sendable in try await person.0.redeem(person.code) } }
            let (replies, statements) = try await Self.together(
                "grant",
                locking: "ended_clients",
                asks,
                scene.service
            )
            // The first one's, one for all others, and the two that were refused again alone.
            #expect(statements == 4)
            for (number, reply) in replies.enumerated() {
                guard ![2, 4].contains(number) else {
                    #expect(reply.oauthError == "invalid_grant", "\(number): \(reply)")
                    continue
                }
                let claims = try await scene.userInfo(reply.accessToken)
                #expect(claims["email"]?.string == "p\(number)@example.com", "\(number): \(reply), \(claims)")
                #expect(try await people[number].0.refresh(reply.refreshToken).status == 200)
            }
            // Whoever comes second with a code may be the thief, or the first one was (RFC 9700 §4.2.4).
            #expect(try await scene.userInfo(before.accessToken).status == 401)
            #expect(try await withdrawn.0.redeem(withdrawn.code).oauthError == "invalid_grant")
            let entries = try await TestDatabase.current.client.query(
                """
                SELECT count(*), count(DISTINCT account), count(DISTINCT resource), count(DISTINCT request)
                FROM audit_log WHERE project = \(scene.service.project.id.rawValue) AND action = 'APPLICATION_GRANTED'
                """
            ) { row in try (0..<4).map { _ in try row.next(Int64.self) } }
            #expect(entries == [[6, 6, 6, 6]])
        }
    }

    @Test("each browser gets its own session, grants and room; a wrong cookie among them none")
    func browsers() async throws {
        try await TestService.run { service in
            let scope = Scope(project: service.project.id)
            let now = service.clock.now()
            var tokens: [RefreshToken] = []
            for number in 0..<5 {
                let text = try await service.signUp("p\(number)@example.com").refreshToken
                tokens.append(try #require(text.flatMap { RefreshToken($0) }))
                try await service.stores.sessions.give(tokens[number], toBrowserWith: nil, in: scope, now: now)
            }
            var settings = RateLimitSettings()
            settings[.silentGrants] = RateLimitBudget(count: 1, seconds: 60)
            let numbers = settings
            let limits = { @Sendable (number: Int) in
                RateLimits(
                    [RateLimitKey(.silentGrants, ["\(number)"])],
                    settings: numbers,
                    deployment: DeploymentLimits(numbers),
                    in: scope,
                    now: now
                )
            }
            try await service.stores.rateLimits.take(limits(3))
            let asks = tokens.enumerated().map { number, token in
                { @Sendable in
                    try await service.stores.sessions.browser(
                        SessionKey(scope: scope, account: token.account, session: token.session),
                        secretHash: number == 2 ? SecureHash.sha256("wrong") : token.browserHash,
                        client: "tea",
                        idleSince: nil,
                        within: limits(number),
                        now: now
                    )
                }
            }
            let (found, statements) = try await Self.together("browser", locking: "sessions", asks, service)
            #expect(statements == 2)
            let expected = tokens.enumerated().map { $0.offset == 2 ? nil : $0.element.account }
            #expect(found.map { $0?.account.id } == expected)
            #expect(
                found.map { $0?.session.id } == tokens.enumerated().map { $0.offset == 2 ? nil : $0.element.session }
            )
            #expect(found.map { $0?.hasRoom } == [true, true, nil, false, true])
            // Nobody took from the bucket of the wrong one.
            try await service.stores.rateLimits.take(limits(2))
        }
    }

    @Test("T-D4: a signature that was verified once says nothing of another one")
    func signatures() async throws {
        try await OAuthScene.run { scene in
            let (person, code) = try await Self.person(0, scene)
            let token = try #require(try await person.redeem(code).accessToken)
            #expect(try await scene.userInfo(token).status == 200)
            #expect(try await scene.userInfo(token).status == 200)
            let parts = token.split(separator: ".").map(String.init)
            let bent = parts[2].first == "A" ? "B" : "A"
            let payload = Base64URL.encode(Array(#"{"sub":"x"}"#.utf8))
            for other in [
                "\(parts[0]).\(parts[1]).\(bent)\(parts[2].dropFirst())", "\(parts[0]).\(payload).\(parts[2])",
            ] {
                #expect(try await scene.userInfo(other).status == 401, "\(other)")
                #expect(try await scene.userInfo(other).status == 401, "\(other)")
            }
        }
    }
}
