import Storage
import Synchronization
import TestKit
import Testing

/// Guesses of passwords, with the limits of production: ten for an address from a network address, then one in three
/// minutes.
@Suite("Limits: passwords", .database)
struct PasswordLimitTests {
    @Test("a password is guessed ten times, then not even the right one counts for a while")
    func guessesEnd() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com")
            for _ in 0..<10 {
                try await service.signIn("ada@example.com", "wrong", from: "198.18.1.1")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            try await service.signIn("ada@example.com", "correct horse", from: "198.18.1.1")
                .expectRefused(LimitScene.locked)
            service.clock.advance(by: 179)
            try await service.signIn("ada@example.com", "correct horse", from: "198.18.1.1")
                .expectRefused(LimitScene.locked)
            service.clock.advance(by: 1)
            let later = try await service.signIn("ada@example.com", "correct horse", from: "198.18.1.1")
            later.expectOK()
        }
    }

    @Test("a right password uses no attempts up, and does not reset others' attempts")
    func successGivesBack() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com")
            for _ in 0..<9 { _ = try await service.signIn("ada@example.com", "wrong", from: "198.18.2.1") }
            for _ in 0..<20 {
                let reply = try await service.signIn("ada@example.com", "correct horse", from: "198.18.2.1")
                reply.expectOK()
            }
            try await service.signIn("ada@example.com", "wrong", from: "198.18.2.1")
                .expectRefused("INVALID_LOGIN_CREDENTIALS")
            try await service.signIn("ada@example.com", "wrong", from: "198.18.2.1")
                .expectRefused(LimitScene.locked)
        }
    }

    @Test("guesses of one moment, at two nodes, do not slip through, and none beyond costs a hash")
    func guessesAtOnce() async throws {
        let hashes = Counter()
        var options = try LimitScene.options()
        options.beforeHash = { hashes.increment() }
        try await TestService.runPair(options) { first, second in
            _ = try await first.signUp("ada@example.com")
            let before = hashes.value
            let replies = try await withThrowingTaskGroup(of: Reply.self) { tasks in
                for number in 0..<40 {
                    tasks.addTask {
                        try await (number % 2 == 0 ? first : second)
                            .signIn("ada@example.com", "wrong \(number)", from: "198.18.3.1")
                    }
                }
                return try await tasks.reduce(into: [String: Int]()) { $0[$1.code ?? "", default: 0] += 1 }
            }
            #expect(replies == ["INVALID_LOGIN_CREDENTIALS": 10, "TOO_MANY_ATTEMPTS_TRY_LATER": 30])
            #expect(hashes.value == before + 10)
        }
    }

    @Test("T-E1: an address without an account is refused at the same guess, in the same words, by the same statements")
    func refusalsTellNothing() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("known@example.com")
            _ = try await service.admin("accounts", ["email": "closed@example.com", "disabled": true])
            var seen: Set<[String]> = []
            for (number, address) in ["known@example.com", "nobody@example.com", "closed@example.com"].enumerated() {
                var answers: [String] = []
                for _ in 0..<12 {
                    let reply = try await service.signIn(address, "wrong", from: "198.18.4.\(number)")
                    let headers = reply.response.headers.map { "\($0.name): \($0.value)" }
                        .filter { !$0.lowercased().hasPrefix("x-request-id") && !$0.lowercased().hasPrefix("date") }
                    answers.append("\(reply.status) \(reply.response.text) \(headers.sorted())")
                }
                seen.insert(answers)
            }
            #expect(seen.count == 1, "\(seen)")
            #expect(seen.first?.suffix(2).allSatisfy { $0.contains("TOO_MANY_ATTEMPTS_TRY_LATER") } == true)
        }
    }

    @Test("guesses from everywhere end too, and do not lock the owner out where the account was in use")
    func guessesFromEverywhere() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.7.1")
            for number in 0..<100 {
                try await service.signIn("ada@example.com", "wrong", from: "198.18.5.\(number)")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            for address in ["198.18.5.200", "198.18.6.1"] {
                try await service.signIn("ada@example.com", "correct horse", from: address)
                    .expectRefused(LimitScene.locked)
            }
            let owner = try await service.signIn("ada@example.com", "correct horse", from: "198.18.7.99")
            owner.expectOK()
            // There guesses are counted by their address as everywhere.
            for _ in 0..<10 { _ = try await service.signIn("ada@example.com", "wrong", from: "198.18.7.5") }
            try await service.signIn("ada@example.com", "correct horse", from: "198.18.7.5")
                .expectRefused(LimitScene.locked)
            service.clock.advance(by: 31 * 86_400)
            for number in 0..<100 {
                _ = try await service.signIn("ada@example.com", "wrong", from: "198.18.5.\(number)")
            }
            try await service.signIn("ada@example.com", "correct horse", from: "198.18.7.98")
                .expectRefused(LimitScene.locked)
        }
    }

    @Test("one network address cannot use up what counts for an account")
    func refusedGuessesCountForNobodyElse() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.10.1")
            for _ in 0..<200 { _ = try await service.signIn("ada@example.com", "wrong", from: "198.18.8.1") }
            let elsewhere = try await service.signIn("ada@example.com", "correct horse", from: "198.18.9.1")
            elsewhere.expectOK()
        }
    }

    @Test("one network address guesses for few accounts")
    func stuffingEnds() async throws {
        try await LimitScene.run { service in
            for number in 0..<300 {
                try await service.signIn("user\(number)@example.com", "wrong", from: "198.18.11.1")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            try await service.signIn("user300@example.com", "wrong", from: "198.18.11.1")
                .expectRefused(LimitScene.blocked)
        }
    }

    @Test("a reset of the password makes the failed guesses good")
    func resetRestores() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com")
            for _ in 0..<11 { _ = try await service.signInWithPassword("ada@example.com", "wrong") }
            try await service.signInWithPassword("ada@example.com").expectRefused(LimitScene.locked)
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            try await service.reset(code, to: "another horse").expectOK()
            let restored = try await service.signInWithPassword("ada@example.com", "another horse")
            restored.expectOK()
        }
    }
}
