import Delivery
import Linking
import Projects
import Storage
import Testing
import TestKit

@Suite("Verifying, changing and recovering an address by mail", .database, .serialized)
struct EmailChangeTests {
    private let ada = "ada@example.com"
    private let new = "ada@example.net"

    private func change(_ service: TestService, _ user: Reply, to address: String) async throws -> String {
        try await service.code(
            .verifyAndChangeEmail,
            ["idToken": JSON(user.idToken), "newEmail": .string(address)],
            to: address
        )
    }

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
            #expect(try await service.refresh(user.refreshToken).status == 200)
            #expect(try await service.signInWithPassword(ada).status == 200)
        }
    }

    @Test("an ID token beside a code wins, and the code stays unused")
    func tokenWins() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let code = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            let reply = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "oobCode": .string(code), "displayName": "Ada"]
            )
            #expect(reply["displayName"] == "Ada" && reply["emailVerified"] == false, "\(reply)")
            #expect(try await service.apply(code).status == 200)
        }
    }

    @Test("T-E6: a change takes hold when its mail is answered; sessions end, the old address gets a way back")
    func changes() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            let reset = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let link = try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            let newLink = try await service.code(.emailSignIn, ["email": .string(new)], to: new)
            let code = try await change(service, user, to: new)
            #expect(try await service.account(user.localID)?["email"]?.string == ada)
            service.clock.advance(by: 5)
            let reply = try await service.apply(code)
            #expect(reply["email"]?.string == new && reply["newEmail"]?.string == new, "\(reply)")
            #expect(reply["emailVerified"] == true && reply.idToken == nil)
            let account = try await service.account(user.localID)
            #expect(account?["initialEmail"]?.string == ada)
            #expect(account?["validSince"]?.string == String(service.clock.seconds))
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.signInWithPassword(new).status == 200)
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

    @Test("T-E6: who gets the mail at the old address takes it back, and the sessions end", .twoNodes)
    func recovers() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            #expect(try await service.apply(verify).status == 200)
            // A thief with a session moves the address twice.
            _ = try await service.apply(try await change(service, user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.net")
            _ = try await service.apply(try await change(service, thief, to: "eve@example.org"))
            service.clock.advance(by: 5)
            let again = try await service.signInWithPassword("eve@example.org")
            let code = try await service.mail(.recoverEmail, to: ada).code
            let thiefs = try await service.mail(.recoverEmail, to: "eve@example.net").code
            service.clock.advance(by: 5)
            let replies = try await inParallel(20) { _ in try await service.apply(code) }
            #expect(replies.filter { $0.status == 200 }.count == 1)
            let account = try #require(try await service.account(user.localID))
            #expect(account["email"]?.string == ada && account["emailVerified"] == true)
            #expect(account["validSince"]?.string == String(service.clock.seconds))
            #expect(try await service.refresh(again.refreshToken).error == "TOKEN_EXPIRED")
            try await service.signInWithPassword("eve@example.org").expectRefused("EMAIL_NOT_FOUND")
            // The address had been proved: the password is its owner's.
            #expect(try await service.signInWithPassword(ada).status == 200)
            // What replaced it later has no right any more.
            try await service.apply(thiefs).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E6: what a thief adds after the change goes with the recovery; what was there before stays", .testProvider)
    func removesWhatWasAdded() async throws {
        try await MailScene.run { service in
            let world = try await LinkingWorld(service)
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            #expect(try await service.apply(verify).status == 200)
            let mine = try await world.acme(world.person(), idToken: user.idToken)
            #expect(mine.localID == user.localID, "\(mine)")
            let phones: [JSON] = [["phoneInfo": "+4915550200"], ["phoneInfo": "+4915550299"]]
            try await world.update(user.localID, ["mfa": ["enrollments": [phones[0]]]])
            service.clock.advance(by: 60)

            _ = try await service.apply(try await change(service, user, to: "eve@example.net"))
            service.clock.advance(by: 60)
            let eve = world.githubPerson("666", email: "eve@example.net")
            try await world.update(user.localID, ["mfa": ["enrollments": []]])
            let thief = try await service.signInWithPassword("eve@example.net")
            #expect(try await world.github(eve, idToken: thief.idToken).status == 200)
            let reset = try await service.code(.passwordReset, ["email": "eve@example.net"], to: "eve@example.net")
            let changed = try await service.call(
                "accounts:resetPassword",
                ["oobCode": .string(reset), "newPassword": "the thief's own"]
            )
            #expect(changed.status == 200, "\(changed)")
            try await world.update(user.localID, ["mfa": ["enrollments": [phones[1]]]])
            service.clock.advance(by: 60)

            let code = try await service.mail(.recoverEmail, to: ada).code
            #expect(try await service.apply(code)["email"]?.string == ada)
            let account = try #require(try await service.account(user.localID))
            #expect(account.providers == [LinkingWorld.acmeID.rawValue], "\(account)")
            #expect(account["mfaInfo"] == nil, "\(account)")
            try await service.signInWithPassword(ada, "the thief's own").expectRefused("INVALID_PASSWORD")
            #expect(try await world.github(eve).localID != user.localID)
            #expect(try await world.acme(world.person()).localID == user.localID)
            let again = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let set = try await service.call(
                "accounts:resetPassword",
                ["oobCode": .string(again), "newPassword": "ada's own"]
            )
            #expect(set.status == 200, "\(set)")
            #expect(try await service.signInWithPassword(ada, "ada's own").localID == user.localID)
        }
    }

    @Test(
        "T-E6: a phone number that was added after the first change goes with the recovery, an older one stays",
        arguments: [nil, "+4915550301", "+4915550302"]
    )
    func removesPhoneNumber(_ number: String?) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let localID = JSON(user.localID)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            #expect(try await service.apply(verify).status == 200)
            if let number {
                _ = try await service.admin("accounts:update", ["localId": localID, "phoneNumber": .string(number)])
            }
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "eve@example.net"]
            )
            _ = try await service.admin("accounts:update", ["localId": localID, "phoneNumber": "+4915550302"])
            // The address in between is not verified, so this change sends a newer code for the first one.
            service.clock.advance(by: 60)
            let again = try await service.call(
                "accounts:update",
                ["idToken": JSON(moved.idToken), "email": "eve@example.org"]
            )
            #expect(again.status == 200, "\(again)")
            let code = try await service.mail(.recoverEmail, to: ada).code
            let reply = try await service.apply(code)
            #expect(reply["email"]?.string == ada, "\(reply)")
            let left = try await service.account(user.localID)?["phoneNumber"]?.string
            #expect(left == (number == "+4915550302" ? number : nil))
        }
    }

    @Test("T-E6: of two changes the thief's address takes back the second, and the owner still the first")
    func recoversAfterTheThief() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            #expect(try await service.apply(verify).status == 200)
            _ = try await service.apply(try await change(service, user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.net")
            _ = try await service.apply(try await change(service, thief, to: "eve@example.org"))
            let owners = try await service.mail(.recoverEmail, to: ada).code
            let thiefs = try await service.mail(.recoverEmail, to: "eve@example.net").code
            #expect(try await service.apply(thiefs)["email"] == "eve@example.net")
            #expect(try await service.apply(owners)["email"]?.string == ada)
        }
    }

    @Test("T-E6: the mail goes to the address that was replaced, and to none that a proved one replaced before")
    func asksTheAddressThatWasReplaced() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp("stranger@example.com")
            let first = try await service.code(
                .verifyEmail,
                ["idToken": JSON(user.idToken)],
                to: "stranger@example.com"
            )
            #expect(try await service.apply(first).status == 200)
            _ = try await service.apply(try await change(service, user, to: ada))
            // Longer than a code is good.
            service.clock.advance(by: 4 * 86_400)
            let again = try await service.signInWithPassword(ada)
            _ = try await service.apply(try await change(service, again, to: new))
            let mails = try await service.mails().filter { $0.type == .recoverEmail }
            let live = mails.filter { $0.mail.newEmail == new }
            #expect(live.map(\.mail.to) == [ada])
            #expect(try await service.account(user.localID)?["initialEmail"]?.string == ada)
        }
    }

    @Test("T-E6: an unverified address has no rights once a newer one is verified")
    func unprovedHasNoRight() async throws {
        try await MailScene.run { service in
            let eve = try await service.signUp(ada)
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(eve.idToken), "email": .string(new)]
            )
            let code = try await service.mail(.recoverEmail, to: ada).code
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(moved.idToken)], to: new)
            #expect(try await service.apply(verify).status == 200)
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E6, T-A7: a first address that was never proved comes back without what was there before")
    func recoversUnproved() async throws {
        try await MailScene.run { service in
            // Somebody begins with another person's address, and goes on to addresses of their own.
            let eve = try await service.signUp(ada)
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(eve.idToken), "email": "eve@example.net"]
            )
            let again = try await service.call(
                "accounts:update",
                ["idToken": JSON(moved.idToken), "email": "eve@example.org"]
            )
            #expect(again.status == 200, "\(again)")
            let code = try await service.mail(.recoverEmail, to: ada).code
            let reply = try await service.apply(code)
            #expect(reply.localID == eve.localID && reply["emailVerified"] == true, "\(reply)")
            try await service.signInWithPassword(ada).expectRefused("INVALID_PASSWORD")
        }
    }

    @Test("T-E6: a direct change and a linked password send the mail too; another account's address stays its own")
    func directChange() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": .string(new)]
            )
            #expect(changed["newEmail"]?.string == new, "\(changed)")
            let code = try await service.mail(.recoverEmail, to: ada).code
            // Somebody else took the address that became free.
            let other = try await service.signUp(ada)
            try await service.apply(code).expectRefused("EMAIL_EXISTS")
            _ = try await service.call("accounts:delete", ["idToken": JSON(other.idToken)])
            #expect(try await service.apply(code)["email"]?.string == ada)

            let bob = try await service.signUp("bob@example.com")
            let linked = try await service.call(
                "accounts:signUp",
                ["idToken": JSON(bob.idToken), "email": "bob@example.net", "password": "correct horse"]
            )
            #expect(linked.status == 200, "\(linked)")
            _ = try await service.mail(.recoverEmail, to: "bob@example.com")
            let guest = try await service.call("accounts:signUp")
            let before = try await service.mails().count
            _ = try await service.call(
                "accounts:signUp",
                ["idToken": JSON(guest.idToken), "email": "carl@example.com", "password": "correct horse"]
            )
            #expect(try await service.mails().count == before)
        }
    }

    @Test("an address that another account has by then is not taken, and the code stays valid")
    func takenMeanwhile() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let code = try await change(service, user, to: new)
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
                    #expect(reply.status == 200)
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "password": "correct horse"]
                    let reply = try await service.call("accounts:update", body)
                    #expect(reply.status == 200)
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "validSince": "1"]
                    let reply = try await service.call("accounts:update", body)
                    #expect(reply.status == 200)
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
                    let reply = try await service.call("accounts:signOut", body)
                    #expect(reply.status == 200)
                },
                { user in
                    let body: JSON = ["idToken": JSON(user.idToken), "scope": "others"]
                    let reply = try await service.call("accounts:signOut", body)
                    #expect(reply.status == 200)
                },
                { user in
                    let reply = try await service.admin("accounts:signOut", ["localId": JSON(user.localID)])
                    #expect(reply.status == 200)
                },
                { user in
                    let body: JSON = ["localId": JSON(user.localID), "password": "correct horse"]
                    let reply = try await service.admin("accounts:update", body)
                    #expect(reply.status == 200)
                },
            ]
            for end in ends {
                let attacker = try await service.signInWithPassword(ada)
                let code = try await change(service, attacker, to: "eve@example.com")
                let owner = try await service.signInWithPassword(ada)
                try await end(owner)
                try await service.apply(code).expectRefused("INVALID_OOB_CODE")
            }
            // What ends another session is no reason.
            let owner = try await service.signInWithPassword(ada)
            let other = try await service.signInWithPassword(ada)
            let code = try await change(service, owner, to: new)
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
            let code = try await change(service, thief, to: "eve@example.com")
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
            #expect(ended.status == 200, "\(ended)")
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-A4: a change dies with a session that ends because its refresh token was stolen")
    func endsWithAStolenSession() async throws {
        try await MailScene.run({ $0.rotateRefreshTokens = true }) { service in
            _ = try await service.signUp(ada)
            let thief = try await service.signInWithPassword(ada)
            let code = try await change(service, thief, to: "eve@example.com")
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
            let move = try await change(service, user, to: new)
            _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": true])
            for code in [verify, move] { try await service.apply(code).expectRefused("USER_DISABLED") }
            #expect(try await service.account(user.localID)?["emailVerified"] == false)
        }
    }

    @Test("a value that is not an email code is refused before any lookup", arguments: ["", "x", "MISSING"])
    func noCode(_ text: String) async throws {
        try await MailScene.run { service in
            let (count, reply) = try await StatementCount.during { try await service.apply(text) }
            #expect(count.total == 0, "\(count)")
            reply.expectRefused(text.isEmpty ? "MISSING_OOB_CODE" : "INVALID_OOB_CODE")
            try await service.call("accounts:update", ["displayName": "Ada"])
                .expectRefused("INVALID_REQ_TYPE : Unsupported request parameters.")
        }
    }
}
