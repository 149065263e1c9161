import Delivery
import Domain
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("Verifying and changing an address by mail", .database, .serialized)
struct EmailChangeTests {
    private let ada = "ada@example.com"
    private let new = "ada@example.net"

    @Test("a verification code verifies, once, and gives no tokens; password and sessions stay", .twoNodes)
    func verifies() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let code = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            let replies = try await inParallel(20) { _ in try await service.apply(code) }
            let used = replies.filter { $0.status == 200 }
            #expect(used.count == 1)
            let reply = try #require(used.first)
            #expect(reply["emailVerified"] == true && reply["email"]?.string == ada, "\(reply)")
            #expect(reply.localID == user.localID && reply.idToken == nil && reply["newEmail"] == nil)
            for refused in replies where refused.status != 200 { refused.expectRefused("INVALID_OOB_CODE") }
            #expect(try await service.account(user.localID)?["emailVerified"] == true)
            try await service.refresh(user.refreshToken).expectOK()
            try await service.signInWithPassword(ada).expectOK()
        }
    }

    @Test("T-E6: a change takes hold when its mail is answered; sessions end, the old address gets a way back")
    func changes() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await TestDatabase.current.client.execute("UPDATE accounts SET email_verified = true")
            let reset = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let link = try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            let newLink = try await service.code(.emailSignIn, ["email": .string(new)], to: new)
            let code = try await service.changeCode(user, to: new)
            #expect(try await service.account(user.localID)?["email"]?.string == ada)
            service.clock.advance(by: 5)
            let reply = try await service.apply(code)
            #expect(reply["email"]?.string == new && reply["newEmail"]?.string == new, "\(reply)")
            #expect(reply["emailVerified"] == true && reply.idToken == nil)
            let account = try await service.account(user.localID)
            #expect(account?["initialEmail"]?.string == ada)
            #expect(account?["validSince"]?.string == String(service.clock.seconds))
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            try await service.signInWithPassword(new).expectOK()
            // Codes of both addresses are void.
            for old in [verify, reset, link, newLink, code] {
                try await service.inspect(old).expectRefused("INVALID_OOB_CODE")
            }
            let recovery = try await service.mail(.recoverEmail, to: ada)
            #expect(recovery.mail.template == .recoverEmail && recovery.mail.newEmail == new)
            #expect(recovery.items["mode"] == "recoverEmail")
            let looked = try await service.inspect(recovery.code)
            #expect(looked["email"]?.string == ada && looked["newEmail"]?.string == new)
        }
    }

    @Test("an address that another account has by then is not taken, and the code stays valid")
    func takenMeanwhile() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let code = try await service.changeCode(user, to: new)
            let other = try await service.signUp(new)
            try await service.apply(code).expectRefused("EMAIL_EXISTS")
            _ = try await service.call("accounts:delete", ["idToken": JSON(other.idToken)])
            #expect(try await service.account(user.localID)?["email"]?.string == ada)
        }
    }

    @Test("T-A4: a change that was begun before dies with a reset, a new password, a sign-out everywhere, a recovery")
    func pendingChangesDie() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let ends: [@Sendable (Reply) async throws -> Void] = [
                { _ in
                    let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
                    let reply = try await service.reset(code, to: "correct horse")
                    reply.expectOK()
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "password": "correct horse"]
                    let reply = try await service.call("accounts:update", body)
                    reply.expectOK()
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "validSince": "1"]
                    let reply = try await service.call("accounts:update", body)
                    reply.expectOK()
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
                    let reply = try await service.call("accounts:signOut", body)
                    reply.expectOK()
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "scope": "others"]
                    let reply = try await service.call("accounts:signOut", body)
                    reply.expectOK()
                },
                { user in
                    let reply = try await service.admin("accounts:signOut", ["localId": JSON(user.localID)])
                    reply.expectOK()
                },
                { user in
                    let body: JSON = ["localId": JSON(user.localID), "password": "correct horse"]
                    let reply = try await service.admin("accounts:update", body)
                    reply.expectOK()
                },
            ]
            for end in ends {
                let attacker = try await service.signInWithPassword(ada)
                let code = try await service.changeCode(attacker, to: "eve@example.com")
                let owner = try await service.signInWithPassword(ada)
                try await end(owner)
                try await service.apply(code).expectRefused("INVALID_OOB_CODE")
            }
            // What ends another session is no reason.
            let owner = try await service.signInWithPassword(ada)
            let other = try await service.signInWithPassword(ada)
            let code = try await service.changeCode(owner, to: new)
            _ = try await service.call("accounts:signOut", ["idToken": JSON(other.idToken)])
            #expect(try await service.apply(code)["email"]?.string == new)
            #expect(try await service.account(user.localID)?["email"]?.string == new)
        }
    }

    @Test("T-A4: a pending change ends with the session that began it, however that session ends", arguments: 0..<3)
    func endsWithItsSession(way: Int) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let thief = try await service.signInWithPassword(ada)
            let code = try await service.changeCode(thief, to: "eve@example.com")
            let session = thief.claims["firebase"]?["sid"] ?? .null
            let ended =
                switch way {
                case 0:
                    try await service.call(
                        "accounts:signOut",
                        ["idToken": JSON(user.idToken), "scope": "session", "sessionId": session]
                    )
                case 1: try await service.call("accounts:signOut", ["idToken": JSON(thief.idToken)])
                default:
                    try await service.admin(
                        "accounts:signOut",
                        ["localId": JSON(user.localID), "sessionId": session]
                    )
                }
            ended.expectOK()
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-A4: a change dies with a session that ends because its refresh token was stolen")
    func endsWithAStolenSession() async throws {
        try await MailScene.run({ $0.rotateRefreshTokens = true }) { service in
            _ = try await service.signUp(ada)
            let thief = try await service.signInWithPassword(ada)
            let code = try await service.changeCode(thief, to: "eve@example.com")
            var token = thief.refreshToken
            for _ in 0..<3 {
                token = try await service.refresh(token).refreshToken
                service.clock.advance(by: 120)
            }
            #expect(try await service.refresh(thief.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.refresh(token).error == "TOKEN_EXPIRED")
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("a disabled account's codes do nothing")
    func disabled() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            let move = try await service.changeCode(user, to: new)
            _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": true])
            for code in [verify, move] { try await service.apply(code).expectRefused("USER_DISABLED") }
            #expect(try await service.account(user.localID)?["emailVerified"] == false)
        }
    }

    @Test("a value that is not an email code is refused before any lookup", arguments: ["x", "MISSING"])
    func noCode(_ text: String) async throws {
        try await MailScene.run { service in
            let (count, reply) = try await StatementCount.during { try await service.apply(text) }
            #expect(count.total == 0, "\(count)")
            reply.expectRefused("INVALID_OOB_CODE")
            try await service.call("accounts:update", ["displayName": "Ada"])
                .expectRefused("INVALID_REQ_TYPE : Unsupported request parameters.")
        }
    }
}
