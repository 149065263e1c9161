import Postgres
import Storage
import TestKit
import Testing
import Text

/// Codes that are redeemed at the same moment, and share a statement.
@Suite("Grants in batches", .database, .serialized)
struct GrantBatchTests {
    /// Redeems codes together: behind one whose statement a lock holds up.
    private static func together(
        _ codes: [(OAuthScene, code: String)],
        behind first: (OAuthScene, code: String)
    ) async throws
        -> [Reply]
    {
        let service = first.0.service
        let (head, others) = try await TestDatabase.current.client.transaction { transaction in
            try await transaction.execute("LOCK TABLE ended_clients IN ACCESS EXCLUSIVE MODE")
            let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
            let head = Task { try await first.0.redeem(first.code) }
            try await waitUntil {
                try await transaction.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                ) { try $0.next(Int64.self) } == [1]
            }
            let others = codes.map { scene, code in Task { try await scene.redeem(code) } }
            try await waitUntil {
                service.stores.batchCounts.contains { $0.name == "grant" && $0.counts.waiting == codes.count }
            }
            return (head, others)
        }
        #expect(try await head.value.status == 200)
        var replies: [Reply] = []
        for task in others { replies.append(try await task.value) }
        return replies
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

    @Test("each account gets its own session; a used code and a withdrawn grant among them fail alone")
    func together() async throws {
        try await OAuthScene.run { scene in
            var people: [(OAuthScene, code: String)] = []
            for number in 0..<7 { people.append(try await Self.person(number, scene)) }
            let (used, withdrawn) = (people[2], people[4])
            let before = try await used.0.redeem(used.code)
            let named: JSON = ["email": ["p4@example.com"]]
            let id = try await scene.service.admin("accounts:lookup", named)["users"]?.array?.first?["localId"]
            try await scene.service.admin("accounts:signOut", ["localId": try #require(id)]).expectOK()
            let replies = try await Self.together(Array(people.dropFirst()), behind: people[0])
            for (number, reply) in zip(1..., replies) {
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
        }
    }
}
