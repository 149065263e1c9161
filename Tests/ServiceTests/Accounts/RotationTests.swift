import Domain
import InMemoryLogging
import Logging
import Postgres
import Projects
import Sessions
import Storage
import Testing
import TestKit

@Suite("Rotation of refresh tokens", .database, .serialized)
struct RotationTests {
    static func options() -> TestService.Options {
        var options = TestService.Options()
        options.settings.anonymousSignIn = true
        options.settings.rotateRefreshTokens = true
        options.settings.signWithES256 = true
        options.connections = 4
        return options
    }

    /// How often a stolen token was noticed.
    private func alarms(_ service: TestService) -> Int {
        service.logs.entries.count { $0.message.description == "Ended a session whose old refresh token was used" }
    }

    @Test("T-D3: each use gives the successor, and a replay the very same one")
    func successors() async throws {
        try await TestService.run(Self.options()) { service in
            let first = try #require(try await service.call("accounts:signUp").refreshToken)
            let second = try await service.refresh(first)
            second.expectOK()
            #expect(second.refreshToken != first)
            for _ in 0..<3 { #expect(try await service.refresh(first).refreshToken == second.refreshToken) }
            let third = try await service.refresh(second.refreshToken)
            third.expectOK()
            #expect(Set([first, second.refreshToken, third.refreshToken]).count == 3)
            try await service.lookUp(third.idToken).expectOK()
            #expect(alarms(service) == 0)
        }
    }

    @Test("T-D3: a use that waits for another to end goes by what that one left, and writes nothing over it")
    func waits() async throws {
        try await TestService.run(Self.options()) { service in
            let first = try await service.call("accounts:signUp")
            let project = service.project.id.rawValue
            let client = TestDatabase.current.client
            let left: [UInt8] = Array(repeating: 1, count: 32)
            let reply = try await client.transaction { transaction in
                try await transaction.execute("SELECT FROM sessions WHERE project = \(project) FOR UPDATE")
                let use = Task { try await service.refresh(first.refreshToken) }
                try await waitUntil {
                    try await !client.query(
                        """
                        SELECT true FROM pg_stat_activity
                        WHERE wait_event_type = 'Lock' AND query LIKE 'WITH found AS%' AND datname = current_database()
                        """
                    ) { try $0.next(Bool.self) }.isEmpty
                }
                try await transaction.execute(
                    "UPDATE sessions SET secret_hash = \(left), generation = 7 WHERE project = \(project)"
                )
                return use
            }.value
            #expect(reply.error == "TOKEN_EXPIRED", "\(reply)")
            let hashes = try await client.query("SELECT secret_hash FROM sessions WHERE project = \(project)") {
                try $0.next([UInt8].self)
            }
            #expect(hashes == [left])
        }
    }

    @Test("T-D3: whoever replaces a token more often than can be followed is noticed")
    func outrun() async throws {
        try await TestService.run(Self.options()) { service in
            let user = try await service.call("accounts:signUp")
            let current: [UInt8] = Array(repeating: 2, count: 32)
            try await TestDatabase.current.client.execute(
                """
                UPDATE sessions SET secret_hash = \(current), generation = 2001
                WHERE project = \(service.project.id.rawValue)
                """
            )
            try await service.refresh(user.refreshToken).expectRefused("TOKEN_EXPIRED")
            #expect(alarms(service) == 1)
        }
    }

    @Test(
        "T-D3: a token works for 60 seconds after its successor was first used; later it counts as stolen",
        arguments: [(59.0, true), (60.0, false)]
    )
    func reuse(_ age: Double, _ isGood: Bool) async throws {
        try await TestService.run(Self.options()) { service in
            let first = try await service.call("accounts:signUp")
            let second = try await service.refresh(first.refreshToken)
            // As long as nobody used the successor the answer may have been lost.
            service.clock.advance(by: 86_400)
            #expect(try await service.refresh(first.refreshToken).refreshToken == second.refreshToken)
            let third = try await service.refresh(second.refreshToken)
            service.clock.advance(by: age)
            let replay = try await service.refresh(first.refreshToken)
            if isGood {
                #expect(replay.refreshToken == second.refreshToken, "\(replay)")
                try await service.refresh(third.refreshToken).expectOK()
                #expect(alarms(service) == 0)
            } else {
                #expect(replay.error == "TOKEN_EXPIRED", "\(replay)")
                // Nobody knows who the thief is: all tokens of the session are void, its ID tokens too.
                for token in [first, second, third] {
                    #expect(try await service.refresh(token.refreshToken).error == "TOKEN_EXPIRED")
                }
                #expect(try await service.lookUp(third.idToken).error == "TOKEN_EXPIRED")
                #expect(alarms(service) == 1)
            }
        }
    }

    @Test("T-D3: a token of long ago is known as well; one that never was ends nothing")
    func longAgo() async throws {
        try await TestService.run(Self.options()) { service in
            let first = try await service.call("accounts:signUp")
            var token = first.refreshToken
            for _ in 0..<20 {
                service.clock.advance(by: 61)
                token = try await service.refresh(token).refreshToken
            }
            let middle = try #require(token).dropLast(2)
            #expect(try await service.refresh(middle + "AA").error == "INVALID_REFRESH_TOKEN")
            try await service.refresh(token).expectOK()
            #expect(try await service.refresh(first.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.refresh(token).error == "TOKEN_EXPIRED")
            #expect(alarms(service) == 1)
        }
    }

    @Test("T-D3: the token of before a password change is refused, and ends nothing")
    func retired() async throws {
        try await PhoneScene.run {
            $0.rotateRefreshTokens = true
        } _: { service in
            let user = try await service.signUp("ada@example.com")
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another password", "returnSecureToken": true]
            )
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            let next = try await service.refresh(changed.refreshToken)
            next.expectOK()
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            // Nor after the session went on, with or without a sign-in.
            let sent = try await service.code(to: "+16505550113")
            let linked = try await service.signInByPhone(sent.body(["idToken": JSON(next.idToken)]))
            var last = try await service.refresh(linked.refreshToken)
            // More often than the times of replacements are kept.
            for _ in 0..<10 {
                service.clock.advance(by: 120)
                last = try await service.refresh(last.refreshToken)
            }
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            try await service.refresh(last.refreshToken).expectOK()
            #expect(alarms(service) == 0)
        }
    }

    @Test(
        "T-D3: a thief who continues the session with a sign-in is noticed as well, but nobody in the minute after",
        arguments: [(0.0, 0), (61.0, 1)]
    )
    func continued(_ age: Double, _ noticed: Int) async throws {
        try await PhoneScene.run {
            $0.rotateRefreshTokens = true
        } _: { service in
            let owner = try await service.call("accounts:signUp", [:])
            var thief = try await service.refresh(owner.refreshToken)
            for number in ["+16505550111", "+16505550112"] {
                let sent = try await service.code(to: number)
                thief = try await service.signInByPhone(
                    sent.body(["idToken": JSON(thief.idToken), "operation": "UPDATE"])
                )
                #expect(thief.refreshToken != nil, "\(thief)")
            }
            service.clock.advance(by: age)
            #expect(try await service.refresh(owner.refreshToken).error == "TOKEN_EXPIRED")
            #expect(alarms(service) == noticed)
            #expect(try await service.refresh(thief.refreshToken).status == (noticed == 0 ? 200 : 400))
        }
    }

    @Test("T-D3: a project that stops to rotate takes the tokens that rotated before")
    func switchedOff() async throws {
        try await TestService.run(Self.options()) { service in
            let first = try await service.call("accounts:signUp")
            let second = try await service.refresh(first.refreshToken)
            _ = try await service.stores.configuration.updateSettings(of: service.project.id) { settings in
                settings.rotateRefreshTokens = false
                return []
            }
            #expect(try await service.refresh(first.refreshToken).refreshToken == second.refreshToken)
            for _ in 0..<2 {
                #expect(try await service.refresh(second.refreshToken).refreshToken == second.refreshToken)
            }
        }
    }

    @Test("T-D3: 50 refreshes of one token at once over two nodes, a fifth of the answers lost: one session, no alarm")
    func parallel() async throws {
        try await TestService.runPair(Self.options()) { first, second in
            let start = try #require(try await first.call("accounts:signUp").refreshToken)
            let newest = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    let node = number.isMultiple(of: 2) ? first : second
                    group.addTask {
                        var token = start
                        for step in 0..<4 {
                            let reply = try await node.refresh(token)
                            reply.expectOK()
                            // Who never hears the answer goes on with the old token.
                            if (number + step).isMultiple(of: 5) { continue }
                            token = try #require(reply.refreshToken)
                        }
                        return token
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(alarms(first) + alarms(second) == 0)
            for token in newest { #expect(try await first.refresh(token).status == 200) }
            let sessions = try await first.stores.database.query(
                "SELECT revoked_at IS NULL FROM sessions WHERE project = \(first.project.id.rawValue)"
            ) { try $0.next(Bool.self) }
            #expect(sessions == [true])
        }
    }

    @Test("a locked session row makes only that session wait")
    func lockedRow() async throws {
        try await TestService.run(Self.options()) { service in
            var tokens: [String] = []
            for _ in 0..<40 { tokens.append(try #require(try await service.call("accounts:signUp").refreshToken)) }
            let held = tokens.removeFirst()
            let session = try await service.stores.database.query(
                """
                SELECT session FROM sessions
                WHERE project = \(service.project.id.rawValue) AND secret_hash = \(try #require(RefreshToken(held)).secretHash)
                """
            ) { try $0.next(String.self) }
            let others = tokens
            let waiting = try await service.stores.database.transaction { transaction in
                try await transaction.execute(
                    "SELECT FROM sessions WHERE session = \(try #require(session.first)) FOR UPDATE"
                )
                let waiting = Task { try await service.refresh(held) }
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for token in others { group.addTask { try await service.refresh(token) } }
                    for try await reply in group { #expect(reply.status == 200, "\(reply)") }
                }
                return waiting
            }
            let late = try await waiting.value
            late.expectOK()
        }
    }
}
