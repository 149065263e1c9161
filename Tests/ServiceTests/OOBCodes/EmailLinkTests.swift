import Postgres
import Projects
import Storage
import TestKit
import Testing

@Suite("Signing in with the link of a mail", .database, .serialized)
struct EmailLinkTests {
    private let ada = "ada@example.com"

    private func link(_ service: TestService, _ address: String = "ada@example.com") async throws -> String {
        try await service.code(.emailSignIn, ["email": .string(address)], to: address)
    }

    @Test("opens an account, then signs in to it; each code works once", .twoNodes)
    func signsUpAndIn() async throws {
        try await MailScene.run { service in
            let code = try await service.code(.emailSignIn, ["email": "Ada@example.com"], to: "Ada@example.com")
            let replies = try await inParallel(20) { _ in try await service.signInWithLink("ADA@example.com", code) }
            let opened = replies.filter { $0.status == 200 }
            #expect(opened.count == 1, "\(replies.map(\.description))")
            for refused in replies where refused.status != 200 { refused.expectRefused("INVALID_OOB_CODE") }
            let first = try #require(opened.first)
            #expect(first["kind"] == "identitytoolkit#EmailLinkSigninResponse")
            #expect(first["isNewUser"] == true && first["email"]?.string == ada && first["expiresIn"] == "3600")
            #expect(first.claims["firebase"]?["sign_in_provider"] == "password")
            #expect(first.claims["email_verified"] == true)
            let account = try #require(try await service.account(first.localID))
            #expect(account["emailLinkSignin"] == true && account["emailVerified"] == true)
            #expect(account.providers == ["password"] && account["passwordHash"] == nil)

            // Mail goes to the address as it was proved, whoever spells it how.
            let second = try await service.code(.emailSignIn, ["email": "aDA@example.com"], to: "Ada@example.com")
            let again = try await service.signInWithLink(ada, second)
            #expect(again.localID == first.localID && again["isNewUser"] == false, "\(again)")
            try await service.refresh(first.refreshToken).expectOK()
            try await service.refresh(again.refreshToken).expectOK()
            #expect(try await service.lookUp(again.idToken)["users"]?[0]?["email"]?.string == ada)
        }
    }

    @Test("a returning user is not signed in to an account that was just disabled, and the code stays valid")
    func disabledMeanwhile() async throws {
        try await MailScene.run { service in
            let first = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let user = try await service.signInWithLink("ada@example.com", first)
            let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        """
                        UPDATE accounts SET disabled = true, version = version + 1
                        WHERE account = \(user.localID ?? "")
                        """
                    )
                },
                { try await service.signInWithLink("ada@example.com", code) }
            )
            reply.expectRefused("USER_DISABLED")
            let enabled = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "disableUser": false]
            )
            enabled.expectOK()
            let again = try await service.signInWithLink("ada@example.com", code)
            #expect(again.localID == user.localID, "\(again)")
        }
    }

    @Test("a verified account keeps its password and its sessions, and gains the method")
    func verifiedAccount() async throws {
        try await MailScene.run { service in
            let made = try await service.admin(
                "accounts",
                ["email": .string(ada), "emailVerified": true, "password": "correct horse"]
            )
            let session = try await service.signInWithPassword(ada)
            let reply = try await service.signInWithLink(ada, try await link(service))
            #expect(reply.localID == made.localID && reply["isNewUser"] == false, "\(reply)")
            try await service.signInWithPassword(ada).expectOK()
            try await service.refresh(session.refreshToken).expectOK()
            let methods = try await service.call(
                "accounts:createAuthUri",
                ["identifier": .string(ada), "continueUri": "http://localhost"]
            )
            #expect(methods["signinMethods"] == ["password", "emailLink"], "\(methods)")
        }
    }

    @Test("says what is wrong, and leaves the code as it was")
    func refuses() async throws {
        try await MailScene.run { service in
            let code = try await link(service)
            try await service.call("accounts:signInWithEmailLink", ["oobCode": .string(code)])
                .expectRefused("MISSING_EMAIL")
            try await service.call("accounts:signInWithEmailLink", ["email": .string(ada)])
                .expectRefused("MISSING_OOB_CODE")
            try await service.signInWithLink(ada, "x").expectRefused("INVALID_OOB_CODE")
            for other in ["bob@example.com", "ada", "ada@example.com "] {
                try await service.signInWithLink(other, code).expectRefused(
                    "INVALID_EMAIL : The email provided does not match the sign-in email address."
                )
            }
            let off: JSON = ["signIn": ["email": ["enabled": true, "passwordRequired": true]]]
            _ = try await service.admin("config?updateMask=signIn.email", off, method: "PATCH", version: "v2")
            try await service.signInWithLink(ada, code).expectRefused("OPERATION_NOT_ALLOWED")
            let on: JSON = ["signIn": ["email": ["enabled": true, "passwordRequired": false]]]
            _ = try await service.admin("config?updateMask=signIn.email", on, method: "PATCH", version: "v2")
            let closed: JSON = ["client": ["permissions": ["disabledUserSignup": true]]]
            _ = try await service.admin("config?updateMask=client", closed, method: "PATCH", version: "v2")
            try await service.signInWithLink(ada, code).expectRefused("ADMIN_ONLY_OPERATION")
            let made = try await service.admin("accounts", ["email": .string(ada), "disabled": true])
            try await service.signInWithLink(ada, code).expectRefused("USER_DISABLED")
            _ = try await service.admin("accounts:update", ["localId": JSON(made.localID), "disableUser": false])
            #expect(try await service.signInWithLink(ada, code).localID == made.localID)
        }
    }

    @Test("links to a guest, who stays the same account")
    func upgradesGuests() async throws {
        try await MailScene.run { service in
            let guest = try await service.call("accounts:signUp")
            let reply = try await service.signInWithLink(ada, try await link(service), idToken: guest.idToken)
            #expect(reply.localID == guest.localID && reply["isNewUser"] == false, "\(reply)")
            #expect(reply["email"]?.string == ada)
            let account = try #require(try await service.account(guest.localID))
            #expect(account["emailVerified"] == true && account["emailLinkSignin"] == true)
            #expect(account["initialEmail"] == nil)
            #expect(try await service.signInWithLink(ada, try await link(service)).localID == guest.localID)
        }
    }

    @Test("links to a signed-in account, whose password stays; another address becomes its own")
    func links() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp(ada)
            let same = try await service.signInWithLink(ada, try await link(service), idToken: user.idToken)
            #expect(same.localID == user.localID, "\(same)")
            try await service.signInWithPassword(ada).expectOK()
            #expect(try await service.account(user.localID)?["emailVerified"] == true)
            let other = "ada@example.net"
            let elsewhere = try await service.signInWithPassword(ada)
            service.clock.advance(by: 5)
            let moved = try await service.signInWithLink(other, try await link(service, other), idToken: same.idToken)
            #expect(moved.localID == user.localID && moved["email"]?.string == other, "\(moved)")
            try await service.signInWithPassword(other).expectOK()
            let account = try await service.account(user.localID)
            #expect(account?["initialEmail"]?.string == ada)
            #expect(account?["validSince"]?.string == same.claims["auth_time"]?.text)
            #expect(try await service.refresh(elsewhere.refreshToken).error == "TOKEN_EXPIRED")
            try await service.refresh(moved.refreshToken).expectOK()
            _ = try await service.mail(.recoverEmail, to: ada)
            // Another account's address is refused, and the code stays good for its owner.
            let bob = try await service.signUp("bob@example.com")
            let bobs = try await link(service, "bob@example.com")
            try await service.signInWithLink("bob@example.com", bobs, idToken: moved.idToken)
                .expectRefused("EMAIL_EXISTS")
            #expect(try await service.signInWithLink("bob@example.com", bobs).localID == bob.localID)
            service.clock.advance(by: 301)
            let late = try await link(service, "ada@example.org")
            try await service.signInWithLink("ada@example.org", late, idToken: moved.idToken)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("a sign-up with the address and the link race: one account, whichever is first", .twoNodes)
    func racesSignUp() async throws {
        try await MailScene.run { service in
            for round in 0..<5 {
                let address = "race\(round)@example.com"
                let code = try await link(service, address)
                let replies = try await inParallel(2) { number in
                    number == 0 ? try await service.signUp(address) : try await service.signInWithLink(address, code)
                }
                let signUp = replies[0]
                let linked = replies[1]
                linked.expectOK()
                if signUp.status == 200 {
                    #expect(linked.localID == signUp.localID)
                } else {
                    signUp.expectRefused("EMAIL_EXISTS")
                }
            }
        }
    }
}
