import Projects
import Storage
import TestKit
import Testing

@Suite("Resetting a password by mail", .database, .serialized)
struct ResetPasswordTests {
    private let ada = "ada@example.com"

    @Test("T-A2: sets the password, proves the address, ends every session; the code is used up")
    func resets() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada, "the old one")
            let other = try await service.signInWithPassword(ada, "the old one")
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            // Looking at it, as the page does, costs nothing.
            for _ in 0..<10 { #expect(try await service.inspect(code)["email"]?.string == ada) }
            service.clock.advance(by: 5)
            let reply = try await service.reset(code, to: "the new one")
            #expect(
                reply.json == [
                    "kind": "identitytoolkit#ResetPasswordResponse", "requestType": "PASSWORD_RESET",
                    "email": .string(ada),
                ],
                "\(reply)"
            )
            for session in [user, other] {
                #expect(try await service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
                try await service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
            }
            try await service.signInWithPassword(ada, "the old one").expectRefused("INVALID_PASSWORD")
            let signedIn = try await service.signInWithPassword(ada, "the new one")
            #expect(signedIn.localID == user.localID)
            let account = try #require(try await service.account(user.localID))
            #expect(account["emailVerified"] == true)
            #expect(account["validSince"]?.string == String(service.clock.seconds))
            for again in [try await service.reset(code, to: "a third one"), try await service.inspect(code)] {
                again.expectRefused("INVALID_OOB_CODE")
            }
        }
    }

    @Test("T-A2: it ends every session of an account whose address had been proved, too, and what they began")
    func endsSessionsOfTheVerified() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            let thief = try await service.signInWithPassword(ada)
            let change = try await service.code(
                .verifyAndChangeEmail,
                ["idToken": JSON(thief.idToken), "newEmail": "eve@example.com"],
                to: "eve@example.com"
            )
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            service.clock.advance(by: 5)
            try await service.reset(code, to: "the new one").expectOK()
            for session in [user, thief] {
                #expect(try await service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
                try await service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
            }
            try await service.apply(change).expectRefused("INVALID_OOB_CODE")
            #expect(try await service.account(user.localID)?["validSince"]?.string == String(service.clock.seconds))
        }
    }

    @Test("an account without a password gets one")
    func firstPassword() async throws {
        try await MailScene.run { service in
            let made = try await service.admin("accounts", ["email": .string(ada), "emailVerified": true])
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.reset(code, to: "correct horse").expectOK()
            #expect(try await service.signInWithPassword(ada).localID == made.localID)
        }
    }

    @Test("T-D5: of twenty uses at once, one counts", .twoNodes)
    func usedOnce() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp(ada)
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let replies = try await inParallel(20) { try await service.reset(code, to: "password \($0)") }
            let winners = replies.indices.filter { replies[$0].status == 200 }
            #expect(winners.count == 1, "\(replies.map(\.description))")
            for (index, reply) in replies.enumerated() where !winners.contains(index) {
                reply.expectRefused("INVALID_OOB_CODE")
            }
            for index in replies.indices {
                let signedIn = try await service.signInWithPassword(ada, "password \(index)")
                #expect((signedIn.status == 200) == winners.contains(index))
            }
        }
    }

    @Test("a newer code takes the place of the older; each type has its own")
    func newerKillsOlder() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            let first = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let second = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.reset(first, to: "never this").expectRefused("INVALID_OOB_CODE")
            #expect(try await service.inspect(verify)["requestType"] == "VERIFY_EMAIL")
            try await service.reset(second, to: "but this").expectOK()
        }
    }

    @Test(
        "each code has its time, and is told to be too late for a day",
        .database,
        arguments: [
            (.passwordReset, 3_600), (.emailSignIn, 21_600), (.verifyEmail, 259_200), (.verifyAndChangeEmail, 259_200),
        ] as [(OOBCodeType, Double)]
    )
    func expires(_ type: OOBCodeType, _ lifetime: Double) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            _ = try await service.sendCode(type, type.request(user.idToken))
            let code = try #require(try await service.mails().first).code
            service.clock.advance(by: lifetime - 1)
            try await service.inspect(code).expectOK()
            service.clock.advance(by: 1)
            try await service.inspect(code).expectRefused("EXPIRED_OOB_CODE")
            try await service.reset(code, to: "too late now").expectRefused("EXPIRED_OOB_CODE")
            try await service.apply(code).expectRefused("EXPIRED_OOB_CODE")
            try await service.signInWithLink(ada, code).expectRefused("EXPIRED_OOB_CODE")
            try await service.sweep()
            try await service.inspect(code).expectRefused("EXPIRED_OOB_CODE")
            service.clock.advance(by: 86_401)
            try await service.sweep()
            try await service.inspect(code).expectRefused("INVALID_OOB_CODE")
            #expect(try await service.stores.outbox.waiting("mail", in: Scope(project: service.project.id)).isEmpty)
        }
    }

    @Test("a disabled account's code is used up by the attempt")
    func disabled() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": true])
            // Only one attempt has it, also of those at once.
            let replies = try await inParallel(8) { try await service.reset(code, to: "password \($0)") }
            #expect(
                replies.map { $0.error ?? "" }.sorted() == Array(repeating: "INVALID_OOB_CODE", count: 7) + [
                    "USER_DISABLED"
                ]
            )
            _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": false])
            try await service.signInWithPassword(ada).expectOK()
        }
    }

    @Test("a code survives a change of the password, and dies with the account")
    func survivesAndDies() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another one"]
            )
            changed.expectOK()
            try await service.inspect(code).expectOK()
            let link = try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            _ = try await service.call("accounts:delete", ["idToken": JSON(changed.idToken)])
            try await service.reset(code, to: "a third one").expectRefused("INVALID_OOB_CODE")
            try await service.signInWithLink(ada, link).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("a code of another type sets no password, and stays usable")
    func otherTypes() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.reset(verify, to: "another one").expectRefused("INVALID_OOB_CODE")
            try await service.signInWithPassword(ada).expectOK()
            let reset = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.apply(reset).expectRefused("INVALID_OOB_CODE")
            try await service.signInWithLink(ada, reset).expectRefused("INVALID_OOB_CODE")
            let link = try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            try await service.apply(link).expectRefused("INVALID_OOB_CODE")
            try await service.apply(verify).expectOK()
            let fresh = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.reset(fresh, to: "another one").expectOK()
        }
    }

    @Test("says what is wrong")
    func refuses() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp(ada)
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.call("accounts:resetPassword").expectRefused("MISSING_OOB_CODE")
            try await service.call("accounts:resetPassword", ["email": .string(ada), "oldPassword": "correct horse"])
                .expectRefused("MISSING_OOB_CODE")
            for name in ["email", "oldPassword"] {
                let both: JSON = ["oobCode": .string(code), "newPassword": "another one", name: .string(ada)]
                let reply = try await service.call("accounts:resetPassword", both)
                #expect(reply.code == "UNEXPECTED_PARAMETER", "\(reply)")
            }
            try await service.reset(code, to: "short")
                .expectRefused("WEAK_PASSWORD : Password should be at least 6 characters")
            for wrong in [String(code.dropLast()), code + "A", code + "=", "x", String(code.reversed())] {
                try await service.reset(wrong, to: "another one").expectRefused("INVALID_OOB_CODE")
            }
            try await service.reset(code, to: "another one").expectOK()
            let off: JSON = ["signIn": ["email": ["enabled": false]]]
            _ = try await service.admin("config?updateMask=signIn.email.enabled", off, method: "PATCH", version: "v2")
            try await service.inspect(code).expectRefused("PASSWORD_LOGIN_DISABLED")
        }
    }

    @Test("T-D1: a code is good in its own project alone")
    func foreignProject() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp(ada)
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await MailScene.run { other in
                _ = try await other.signUp(ada)
                try await other.reset(code, to: "another one").expectRefused("INVALID_OOB_CODE")
            }
            try await service.reset(code, to: "another one").expectOK()
        }
    }
}

/// The results of `operation`, run so many times at once, in the order of their numbers.
func inParallel<R: Sendable>(
    _ count: Int,
    _ operation: @escaping @Sendable (Int) async throws -> R
) async throws -> [R] {
    let barrier = Barrier(count)
    return try await withThrowingTaskGroup(of: (Int, R).self) { tasks in
        for number in 0..<count {
            tasks.addTask {
                await barrier.wait()
                return (number, try await operation(number))
            }
        }
        var results: [(Int, R)] = []
        for try await result in tasks { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
