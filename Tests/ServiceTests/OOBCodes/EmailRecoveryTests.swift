import Delivery
import Domain
import Projects
import Storage
import Testing
import TestKit

/// What the mail to the address that was replaced is good for.
@Suite("Taking a changed address back", .database, .serialized)
struct EmailRecoveryTests {
    private let ada = "ada@example.com"
    private let new = "ada@example.net"

    @Test("T-E6: who gets the mail at the old address takes it back, and the sessions end", .twoNodes)
    func recovers() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.apply(verify).expectOK()
            service.clock.advance(by: 5)
            // A thief with a session moves the address twice.
            _ = try await service.apply(try await service.changeCode(user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.net")
            _ = try await service.apply(try await service.changeCode(thief, to: "eve@example.org"))
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
            try await service.signInWithPassword(ada).expectOK()
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
            try await service.apply(verify).expectOK()
            let mine = try await world.acme(world.person(), idToken: user.idToken)
            #expect(mine.localID == user.localID, "\(mine)")
            let phones: [JSON] = [["phoneInfo": "+4915550200"], ["phoneInfo": "+4915550299"]]
            try await world.update(user.localID, ["mfa": ["enrollments": [phones[0]]]])
            service.clock.advance(by: 8 * 86_400)
            let owner = try await service.signInWithPassword(ada)
            service.clock.advance(by: 60)

            _ = try await service.apply(try await service.changeCode(owner, to: "eve@example.net"))
            service.clock.advance(by: 60)
            let eve = world.githubPerson("666", email: "eve@example.net")
            try await world.update(user.localID, ["mfa": ["enrollments": []]])
            let thief = try await service.signInWithPassword("eve@example.net")
            try await world.github(eve, idToken: thief.idToken).expectOK()
            let reset = try await service.code(.passwordReset, ["email": "eve@example.net"], to: "eve@example.net")
            let changed = try await service.call(
                "accounts:resetPassword",
                ["oobCode": .string(reset), "newPassword": "the thief's own"]
            )
            changed.expectOK()
            try await world.update(user.localID, ["mfa": ["enrollments": [phones[1]]]])
            service.clock.advance(by: 60)

            let code = try await service.mail(.recoverEmail, to: ada).code
            #expect(try await service.apply(code)["email"]?.string == ada)
            let account = try #require(try await service.account(user.localID))
            #expect(account.providers == [LinkingWorld.acmeID.rawValue], "\(account)")
            #expect(account["mfaInfo"] == nil, "\(account)")
            try await service.signInWithPassword(ada, "the thief's own").expectRefused("INVALID_PASSWORD")
            #expect(try await world.github(eve).localID != user.localID)
            let again = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            let set = try await service.call(
                "accounts:resetPassword",
                ["oobCode": .string(again), "newPassword": "ada's own"]
            )
            set.expectOK()
            #expect(try await service.signInWithPassword(ada, "ada's own").localID == user.localID)
        }
    }

    @Test("T-E6: what a thief adds in the days before the change goes with the recovery too", .testProvider)
    func removesWhatWasPrepared() async throws {
        try await MailScene.run { service in
            let world = try await LinkingWorld(service)
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.apply(verify).expectOK()
            service.clock.advance(by: 60 * 86_400)
            let thief = try await service.signInWithPassword(ada)
            let eve = world.githubPerson("666", email: "eve@example.net")
            try await world.github(eve, idToken: thief.idToken).expectOK()
            try await world.update(user.localID, ["mfa": ["enrollments": [["phoneInfo": "+4915550299"]]]])
            try await world.update(user.localID, ["mfa": ["enrollments": []], "password": "the thief's own"])
            service.clock.advance(by: 6 * 86_400)
            let again = try await service.signInWithPassword(ada, "the thief's own")
            try await service.move(again, to: "eve@example.net").expectOK()
            let code = try await service.mail(.recoverEmail, to: ada).code
            #expect(try await service.apply(code)["email"]?.string == ada)
            try await service.signInWithPassword(ada, "the thief's own").expectRefused("INVALID_PASSWORD")
            #expect(try await world.github(eve).localID != user.localID)
        }
    }

    @Test(
        "T-E6: the phone number goes with the recovery, as nobody knows since when it is there",
        arguments: [nil, "+4915550302"]
    )
    func removesPhoneNumber(_ number: String?) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let localID = JSON(user.localID)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.apply(verify).expectOK()
            if let number {
                _ = try await service.admin("accounts:update", ["localId": localID, "phoneNumber": .string(number)])
            }
            let moved = try await service.move(user, to: "eve@example.net")
            _ = try await service.admin("accounts:update", ["localId": localID, "phoneNumber": "+4915550302"])
            // The address in between is not verified, so this change sends a newer code for the first one.
            service.clock.advance(by: 60)
            let again = try await service.move(moved, to: "eve@example.org")
            again.expectOK()
            let code = try await service.mail(.recoverEmail, to: ada).code
            let reply = try await service.apply(code)
            #expect(reply["email"]?.string == ada, "\(reply)")
            #expect(try await service.account(user.localID)?["phoneNumber"] == nil)
        }
    }

    @Test("T-E6: of two changes the thief's address takes back the second, and the owner still the first")
    func recoversAfterTheThief() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.apply(verify).expectOK()
            _ = try await service.apply(try await service.changeCode(user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.net")
            _ = try await service.apply(try await service.changeCode(thief, to: "eve@example.org"))
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
            try await service.apply(first).expectOK()
            _ = try await service.apply(try await service.changeCode(user, to: ada))
            // Longer than a code is good.
            service.clock.advance(by: 4 * 86_400)
            let again = try await service.signInWithPassword(ada)
            _ = try await service.apply(try await service.changeCode(again, to: new))
            let mails = try await service.mails().filter { $0.type == .recoverEmail }
            let live = mails.filter { $0.mail.newEmail == new }
            #expect(live.map(\.mail.to) == [ada])
            #expect(try await service.account(user.localID)?["initialEmail"]?.string == ada)
        }
    }

    @Test("T-E6: whoever signed up with the address meanwhile and never verified it loses it")
    func squatter() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            service.clock.advance(by: 5)
            _ = try await service.apply(try await service.changeCode(user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.net")
            let squatter = try await service.signUp(ada, "the thief's own")
            let code = try await service.mail(.recoverEmail, to: ada).code
            #expect(try await service.apply(code)["email"]?.string == ada)
            #expect(try await service.refresh(thief.refreshToken).error == "TOKEN_EXPIRED")
            let restored = try #require(try await service.account(user.localID))
            #expect(restored["email"]?.string == ada && restored["emailVerified"] == true, "\(restored)")
            let left = try #require(try await service.account(squatter.localID))
            #expect(left["email"] == nil && left["emailVerified"] != true, "\(left)")
            try await service.signInWithPassword(ada, "the thief's own").expectRefused("INVALID_PASSWORD")
            #expect(try await service.signInWithPassword(ada).localID == user.localID)
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E6: where somebody has the address by then, the thief is out all the same, and the way back stays open")
    func takenMeanwhile() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            service.clock.advance(by: 5)
            _ = try await service.apply(try await service.changeCode(user, to: "eve@example.net"))
            service.clock.advance(by: 5)
            let first = try await service.signInWithPassword("eve@example.net")
            _ = try await service.apply(try await service.changeCode(first, to: "eve@example.org"))
            service.clock.advance(by: 5)
            let thief = try await service.signInWithPassword("eve@example.org")
            let squatter = try await service.verifiedUser(ada)
            let code = try await service.mail(.recoverEmail, to: ada).code
            let thiefs = try await service.mail(.recoverEmail, to: "eve@example.net").code
            try await service.apply(code).expectRefused(
                "EMAIL_EXISTS : Another account has verified the address. This one was signed out everywhere and has no address."
            )
            #expect(try await service.refresh(thief.refreshToken).error == "TOKEN_EXPIRED")
            let left = try #require(try await service.account(user.localID))
            #expect(left["email"] == nil && left["emailVerified"] != true, "\(left)")
            try await service.signInWithPassword("eve@example.org").expectRefused("EMAIL_NOT_FOUND")
            try await service.apply(thiefs).expectRefused("INVALID_OOB_CODE")
            // The other account is nobody's business here.
            try await service.lookUp(squatter.idToken).expectOK()
            _ = try await service.call("accounts:delete", ["idToken": JSON(squatter.idToken)])
            #expect(try await service.apply(code)["email"]?.string == ada)
            #expect(try await service.signInWithPassword(ada).localID == user.localID)
        }
    }

    @Test("T-E6: the way back is open for three days, and enumeration protection changes nothing about it")
    func lastsThreeDays() async throws {
        try await MailScene.run({ $0.emailEnumerationProtection = true }) { service in
            let user = try await service.verifiedUser(ada)
            _ = try await service.apply(try await service.changeCode(user, to: new))
            let code = try await service.mail(.recoverEmail, to: ada).code
            service.clock.advance(by: 3 * 86_400 - 1)
            #expect(try await service.inspect(code)["requestType"] == "RECOVER_EMAIL")
            service.clock.advance(by: 1)
            try await service.inspect(code).expectRefused("EXPIRED_OOB_CODE")
            try await service.apply(code).expectRefused("EXPIRED_OOB_CODE")
            #expect(try await service.account(user.localID)?["email"]?.string == new)
        }
    }

    @Test("T-E6: an unverified address has no rights once a newer one is verified")
    func unprovedHasNoRight() async throws {
        try await MailScene.run { service in
            let eve = try await service.signUp(ada)
            let moved = try await service.move(eve, to: new)
            let code = try await service.mail(.recoverEmail, to: ada).code
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(moved.idToken)], to: new)
            try await service.apply(verify).expectOK()
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E6, T-A7: a first address that was never proved comes back without what was there before")
    func recoversUnproved() async throws {
        try await MailScene.run { service in
            // Somebody begins with another person's address, and goes on to addresses of their own.
            let eve = try await service.signUp(ada)
            let moved = try await service.move(eve, to: "eve@example.net")
            let again = try await service.move(moved, to: "eve@example.org")
            again.expectOK()
            let code = try await service.mail(.recoverEmail, to: ada).code
            let reply = try await service.apply(code)
            #expect(reply.localID == eve.localID && reply["emailVerified"] == true, "\(reply)")
            try await service.signInWithPassword(ada).expectRefused("INVALID_PASSWORD")
        }
    }

    @Test("T-E6: a mail that proves the new address leaves an unverified one no right", arguments: [true, false])
    func provedChange(_ byLink: Bool) async throws {
        try await MailScene.run { service in
            // A typing error: the address belongs to a stranger.
            let user = try await service.signUp("ada@example.co")
            if byLink {
                let code = try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
                let linked = try await service.signInWithLink(ada, code, idToken: user.idToken)
                #expect(linked.localID == user.localID, "\(linked)")
            } else {
                let changed = try await service.apply(try await service.changeCode(user, to: ada))
                #expect(changed["email"]?.string == ada, "\(changed)")
            }
            #expect(try await !service.mails().contains { $0.type == .recoverEmail })
        }
    }

    @Test("T-E6: who removes the address, and sets another, does not lock its owner out", .testProvider)
    func removedAddress() async throws {
        try await MailScene.run { service in
            let world = try await LinkingWorld(service)
            let user = try await service.signUp(ada)
            let verify = try await service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            try await service.apply(verify).expectOK()
            let thief = try await world.github(
                world.githubPerson("666", email: "eve@example.com"),
                idToken: user.idToken
            )
            service.clock.advance(by: 5)
            let removed = try await service.call(
                "accounts:update",
                ["idToken": JSON(thief.idToken), "deleteAttribute": ["EMAIL"]]
            )
            #expect(removed.status == 200 && removed["email"] == nil, "\(removed)")
            let mail = try await service.mail(.recoverEmail, to: ada)
            #expect(mail.mail.newEmail == nil)
            let looked = try await service.inspect(mail.code)
            #expect(looked["email"]?.string == ada && looked["newEmail"] == nil, "\(looked)")
            // The password comes at the same instant as the removal.
            let linked = try await service.call(
                "accounts:signUp",
                [
                    "idToken": JSON(removed.idToken ?? thief.idToken), "email": "eve@example.com",
                    "password": "the thief's own",
                ]
            )
            #expect(linked.localID == user.localID, "\(linked)")
            let proof = try await service.code(.verifyEmail, ["idToken": JSON(linked.idToken)], to: "eve@example.com")
            try await service.apply(proof).expectOK()
            #expect(try await service.account(user.localID)?["initialEmail"]?.string == ada)
            service.clock.advance(by: 60)
            #expect(try await service.apply(mail.code)["email"]?.string == ada)
            try await service.signInWithPassword(ada, "the thief's own").expectRefused("INVALID_PASSWORD")
            try await service.signInWithPassword("eve@example.com").expectRefused("EMAIL_NOT_FOUND")
            #expect(try await service.refresh(linked.refreshToken).error == "TOKEN_EXPIRED")
        }
    }

    enum Proof: CaseIterable { case provider, link, reset }

    @Test(
        "T-E6: who proves the address that a thief set gets an account of their own, and the owner keeps the way back",
        .testProvider,
        arguments: Proof.allCases
    )
    func provedByAThief(_ proof: Proof) async throws {
        try await MailScene.run { service in
            let world = try await LinkingWorld(service)
            let user = try await service.verifiedUser(ada)
            let eve = "eve@example.net"
            try await replaceByRemoving(user, eve, world)
            let code = try await service.mail(.recoverEmail, to: ada).code
            service.clock.advance(by: 5)
            let thief: Reply
            switch proof {
            case .provider: thief = try await world.acme(world.person(email: eve))
            case .link:
                let link = try await service.code(.emailSignIn, ["email": .string(eve)], to: eve)
                thief = try await service.signInWithLink(eve, link)
            case .reset:
                let reset = try await service.code(.passwordReset, ["email": .string(eve)], to: eve)
                try await service.reset(reset, to: "the thief's own").expectOK()
                thief = try await service.signInWithPassword(eve, "the thief's own")
            }
            #expect(thief.localID != nil && thief.localID != user.localID, "\(thief)")
            #expect(try await service.account(user.localID)?["email"] == nil)
            service.clock.advance(by: 5)
            #expect(try await service.apply(code)["email"]?.string == ada)
            #expect(try await service.account(user.localID)?["email"]?.string == ada)
        }
    }

    /// Removes the address of an account, which keeps an identity, and sets another.
    private func replaceByRemoving(_ user: Reply, _ address: String, _ world: LinkingWorld) async throws {
        let service = world.service
        let linked = try await world.github(world.githubPerson("666", email: address), idToken: user.idToken)
        service.clock.advance(by: 5)
        let removal: JSON = ["idToken": JSON(linked.idToken), "deleteAttribute": ["EMAIL"]]
        let removed = try await service.call("accounts:update", removal)
        let new: JSON = [
            "idToken": JSON(removed.idToken ?? linked.idToken), "email": .string(address), "password": "another one",
        ]
        let set = try await service.call("accounts:signUp", new)
        #expect(set.localID == user.localID, "\(set)")
        service.clock.advance(by: 5)
    }

    @Test("T-E6: who replaced the address at once, and signs in with a link before verifying the new one, is the same")
    func replacedAtOnce() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            try await service.move(user, to: new).expectOK()
            let link = try await service.code(.emailSignIn, ["email": .string(new)], to: new)
            #expect(try await service.signInWithLink(new, link).localID == user.localID)
        }
    }

    @Test(
        "T-E6: once no address of before can be restored, who proves the newest takes the account over",
        .testProvider
    )
    func provedLater() async throws {
        try await MailScene.run { service in
            let user = try await service.verifiedUser(ada)
            try await replaceByRemoving(user, new, LinkingWorld(service))
            service.clock.advance(by: 3 * 86_400)
            let link = try await service.code(.emailSignIn, ["email": .string(new)], to: new)
            #expect(try await service.signInWithLink(new, link).localID == user.localID)
        }
    }

    @Test(
        "T-E6: the right to a removed address that was never verified ends with a merge or link that brings a verified one",
        .testProvider,
        arguments: [true, false]
    )
    func replacedByVerified(_ byMerge: Bool) async throws {
        try await MailScene.run { service in
            let world = try await LinkingWorld(service)
            let first = try await service.signUp("ada@example.co")
            let user = try await world.github(world.githubPerson(email: "ada@example.org"), idToken: first.idToken)
            let removed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "deleteAttribute": ["EMAIL"]]
            )
            removed.expectOK()
            let code = try await service.mail(.recoverEmail, to: "ada@example.co").code
            if byMerge {
                let other = try await world.account(["email": .string(ada), "emailVerified": true])
                let merged = try await service.merge(other, into: user.localID ?? "")
                #expect(merged["user"]?["email"]?.string == ada, "\(merged)")
            } else {
                let linked = try await world.acme(world.person(), idToken: removed.idToken ?? user.idToken)
                #expect(linked["email"]?.string == ada && linked["emailVerified"] == true, "\(linked)")
            }
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E6: a direct change and a linked password send the mail too; another account's address stays its own")
    func directChange() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let changed = try await service.move(user, to: new)
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
            linked.expectOK()
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
}
