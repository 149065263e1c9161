import Development
import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Passkeys of accounts that change hands", .database)
struct PasskeyLinkingTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await MergeScene.run(
            {
                $0.passkeys.relyingPartyID = "example.com"
                $0.passkeys.origins = ["https://example.com"]
                $0.allowsEmailLink = true
                $0.emailLinkNeedsPassword = false
            },
            body
        )
    }

    @Test("T-A7: the first verification by another user removes passkeys")
    func takeOver() async throws {
        try await run { service in
            let thief = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(thief.idToken)
            let ada = try await service.signInWithIdP(
                postBody: MergeScene.identity("google.com", "ada", email: "ada@example.com")
            )
            #expect(ada.localID == thief.localID, "\(ada)")
            #expect(try await service.account(ada.localID)?["passkeyInfo"] == nil)
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            // The claim is free, and the new user's own passkey works.
            let (own, reply) = try await service.enrollPasskey(ada.idToken) { $0.id = passkey.id }
            reply.expectOK()
            #expect(try await service.signIn(with: own).localID == ada.localID)
        }
    }

    @Test(
        "T-A7: the first proof of the email by a mail removes passkeys",
        arguments: ["PASSWORD_RESET", "EMAIL_SIGNIN"]
    )
    func provedByMail(_ type: String) async throws {
        try await run { service in
            let thief = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(thief.idToken)
            let mail = try await service.admin(
                "accounts:sendOobCode",
                [
                    "requestType": .string(type), "email": "ada@example.com", "returnOobLink": true,
                    "continueUrl": "http://localhost/", "canHandleCodeInApp": true,
                ]
            )
            let code = try #require(mail["oobCode"], "\(mail)")
            let proved =
                type == "EMAIL_SIGNIN"
                ? try await service.call("accounts:signInWithEmailLink", ["email": "ada@example.com", "oobCode": code])
                : try await service.call("accounts:resetPassword", ["oobCode": code, "newPassword": "another horse"])
            proved.expectOK()
            #expect(try await service.account(thief.localID)?["passkeyInfo"] == nil)
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
        }
    }

    @Test("a merge moves passkeys, which keep their handle, and an undo returns them")
    func merge() async throws {
        try await run { service in
            let ada = try await service.signUp("ada@example.com")
            let other = try await service.call("accounts:signUp")
            let (own, _) = try await service.enrollPasskey(ada.idToken)
            let (moved, _) = try await service.enrollPasskey(other.idToken)
            try await verify(ada, service)
            let merge = try await service.merge(other.localID, into: ada.localID)
            merge.expectOK()
            for passkey in [own, moved] {
                let reply = try await service.signIn(with: passkey)
                #expect(reply.localID == ada.localID, "\(reply)")
            }
            #expect(try await service.account(ada.localID)?["passkeyInfo"]?.array?.count == 2)
            let undone = try await service.undo(merge)
            undone.expectOK()
            #expect(try await service.signIn(with: moved).localID == other.localID)
            #expect(try await service.signIn(with: own).localID == ada.localID)
            #expect(try await service.account(ada.localID)?["passkeyInfo"]?.array?.count == 1)
        }
    }

    private func verify(_ user: Reply, _ service: TestService) async throws {
        let proved: JSON = ["localId": JSON(user.localID), "emailVerified": true]
        try await service.admin("accounts:update", proved).expectOK()
    }

    @Test("an undo returns passkeys that the first verification removed since, and only those that were merged")
    func undoAfterTakeOver() async throws {
        try await run { service in
            let ada = try await service.signUp("ada@example.com")
            let other = try await service.call("accounts:signUp")
            let (own, _) = try await service.enrollPasskey(ada.idToken)
            let (moved, _) = try await service.enrollPasskey(other.idToken)
            try await verify(ada, service)
            let merge = try await service.merge(other.localID, into: ada.localID)
            let change: JSON = ["localId": JSON(ada.localID), "email": "new@example.com", "emailVerified": false]
            try await service.admin("accounts:update", change).expectOK()
            let taker = MergeScene.identity("google.com", "taker", email: "new@example.com")
            #expect(try await service.signInWithIdP(postBody: taker).localID == ada.localID)
            let undone = try await service.undo(merge)
            #expect(undone.status == 200 && undone["leftProviders"] == nil, "\(undone)")
            #expect(try await service.signIn(with: moved).localID == other.localID)
            try await service.signIn(with: own).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
        }
    }

    @Test("a merge that would exceed the limit is refused unless the passkeys are dropped")
    func tooMany() async throws {
        try await run { service in
            let ada = try await service.signUp("ada@example.com")
            let other = try await service.call("accounts:signUp")
            for _ in 0..<10 { _ = try await service.enrollPasskey(ada.idToken) }
            let (passkey, _) = try await service.enrollPasskey(other.idToken)
            let refused = try await service.merge(other.localID, into: ada.localID)
            #expect(refused.code == "MERGE_CONFLICT", "\(refused)")
            try await service.merge(other.localID, into: ada.localID, dropping: ["passkey"]).expectOK()
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
        }
    }

    @Test("T-E6: a passkey that a thief adds after a change of the email goes with the recovery, an older one stays")
    func recovery() async throws {
        try await PasskeyScene.run {
            $0.emailEnumerationProtection = false
        } _: { service in
            let user = try await service.signUp("ada@example.com")
            let verify = try await service.code(
                .verifyEmail,
                ["idToken": JSON(user.idToken)],
                to: "ada@example.com"
            )
            try await service.apply(verify).expectOK()
            let (mine, _) = try await service.enrollPasskey(user.idToken)
            service.clock.advance(by: 60)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "eve@example.net", "returnSecureToken": true]
            )
            changed.expectOK()
            service.clock.advance(by: 60)
            let (thiefs, added) = try await service.enrollPasskey(changed.idToken)
            added.expectOK()
            let recovery = try await service.mail(.recoverEmail, to: "ada@example.com").code
            try await service.apply(recovery).expectOK()
            let left = mine.assertion(for: try await service.passkeyChallenge())
            #expect(try await service.finishPasskeySignIn(left).localID == user.localID)
            let gone = thiefs.assertion(for: try await service.passkeyChallenge())
            try await service.finishPasskeySignIn(gone).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
        }
    }
}
