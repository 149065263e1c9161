import Delivery
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// An email that was requested, with what its requester got back and what its reader sees.
private struct EmailedCode: Sendable {
    let email: String
    /// Empty for an email that verifies an address: the ID token's session is what its digits belong to.
    var session: String
    let digits: String
    let link: String

    /// As a client presents the digits.
    var code: String { session + "." + digits }
    /// Six digits that are not the code.
    var wrong: String { session + "." + (digits == "000000" ? "000001" : "000000") }
}

extension TestService {
    fileprivate func emailCode(to email: String) async throws -> EmailedCode {
        let earlier = Set(try await mails().map(\.code))
        let reply = try await sendCode(.emailSignIn, ["email": .string(email)])
        let mail = try await mail(.emailSignIn, to: email, besides: earlier)
        let session = try #require(reply["codeSession"]?.string, "\(reply)")
        return EmailedCode(email: email, session: session, digits: try #require(mail.mail.code), link: mail.code)
    }

    fileprivate func verificationCode(of user: Reply, at email: String) async throws -> EmailedCode {
        let reply = try await sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
        #expect(reply.status == 200 && reply["codeSession"] == nil, "\(reply)")
        let mail = try await mail(.verifyEmail, to: email)
        return EmailedCode(email: email, session: "", digits: try #require(mail.mail.code), link: mail.code)
    }

    fileprivate func signIn(_ sent: EmailedCode, _ code: String? = nil) async throws -> Reply {
        try await signInWithLink(sent.email, code ?? sent.code)
    }

    fileprivate func verify(_ digits: String, _ user: Reply) async throws -> Reply {
        try await call("accounts:update", ["idToken": JSON(user.idToken), "oobCode": .string(digits)])
    }
}

@Suite("Codes of six digits in emails", .database, .serialized)
struct EmailCodeTests {
    private let ada = "ada@example.com"

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.emailCodes = true
                change(&$0)
            },
            body
        )
    }

    private func members(_ reply: Reply) -> Set<String> { Set((reply.json.object ?? [:]).keys) }

    // MARK: Sign-in

    @Test("open an account and sign in to it, once each, and end the link beside them", .twoNodes)
    func signsUpAndIn() async throws {
        try await run { service in
            let sent = try await service.emailCode(to: ada)
            let replies = try await inParallel(5) { _ in try await service.signIn(sent) }
            let opened = replies.filter { $0.status == 200 }
            #expect(opened.count == 1, "\(replies.map(\.description))")
            for refused in replies where refused.status != 200 { refused.expectRefused("INVALID_OOB_CODE") }
            #expect(opened.first?["isNewUser"] == true && opened.first?.claims["email_verified"] == true)
            try await service.signIn(sent, sent.link).expectRefused("INVALID_OOB_CODE")

            let next = try await service.emailCode(to: ada)
            let again = try await service.signInWithLink("ADA@Example.com", next.code)
            #expect(again.localID == opened.first?.localID && again["isNewUser"] == false, "\(again)")

            let last = try await service.emailCode(to: ada)
            #expect(try await service.signIn(last, last.link).localID == again.localID)
            try await service.signIn(last).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("link to a guest")
    func upgradesGuest() async throws {
        try await run(
            { $0.anonymousSignIn = true },
            { service in
                let guest = try await service.call("accounts:signUp")
                let sent = try await service.emailCode(to: ada)
                let linked = try await service.signInWithLink(ada, sent.code, idToken: guest.idToken)
                #expect(linked.localID == guest.localID && linked["email"]?.string == ada, "\(linked)")
            }
        )
    }

    @Test("T-E21: five wrong tries end the digits: the sixth fails although it is right; the link stays valid")
    func fiveTries() async throws {
        try await run { service in
            let sent = try await service.emailCode(to: ada)
            for _ in 0..<5 { try await service.signIn(sent, sent.wrong).expectRefused("INVALID_OOB_CODE") }
            try await service.signIn(sent).expectRefused("EXPIRED_OOB_CODE")
            try await service.signIn(sent, sent.link).expectOK()
            let next = try await service.emailCode(to: ada)
            for _ in 0..<4 { try await service.signIn(next, next.wrong).expectRefused("INVALID_OOB_CODE") }
            try await service.signIn(next).expectOK()
        }
    }

    @Test("T-E21: what cannot be the digits is no try, and the digits are read as users type them")
    func typed() async throws {
        try await run { service in
            let sent = try await service.emailCode(to: ada)
            for typed in ["12345", "1234567", "abcdef", ""] {
                for _ in 0..<3 {
                    try await service.signIn(sent, "\(sent.session).\(typed)").expectRefused("INVALID_OOB_CODE")
                }
            }
            let typed = "\(sent.digits.prefix(3))\u{3000}\(String(sent.digits.suffix(3)).inFullWidth) "
            try await service.signIn(sent, "\(sent.session).\(typed)").expectOK()
        }
    }

    @Test("T-E21: of many tries at once five are compared, and no more")
    func triesAtOnce() async throws {
        var options = TestService.Options()
        options.settings.allowsEmailLink = true
        options.settings.emailCodes = true
        try await TestService.runPair(options) { first, second in
            let sent = try await first.emailCode(to: ada)
            let replies = try await inParallel(40) { index in
                try await (index % 2 == 0 ? first : second).signIn(sent, sent.wrong)
            }
            #expect(replies.count { $0.error == "INVALID_OOB_CODE" } == 5)
            #expect(replies.count { $0.error == "EXPIRED_OOB_CODE" } == 35)
            try await first.signIn(sent).expectRefused("EXPIRED_OOB_CODE")
        }
    }

    @Test("T-E21: the digits are worth nothing without the session of their request, and take no try of it")
    func othersGuess() async throws {
        try await run { service in
            let sent = try await service.emailCode(to: ada)
            let thief = try await service.emailCode(to: "thief@example.com")
            let unknown = RandomSource.system.handle()
            for session in [thief.session, unknown, "", String(repeating: "A", count: 43)] {
                for _ in 0..<6 {
                    try await service.signIn(sent, "\(session).\(sent.digits)").expectRefused("INVALID_OOB_CODE")
                }
            }
            for text in [
                sent.digits, "\(sent.session).", sent.session, "\(sent.session).\(sent.digits)0", "\(sent.code).1",
            ] {
                try await service.signIn(sent, text).expectRefused("INVALID_OOB_CODE")
            }
            // Nor are they those of another address.
            try await service.signInWithLink("thief@example.com", sent.code).expectRefused("INVALID_OOB_CODE")
            try await service.signIn(sent).expectOK()
        }
    }

    @Test("T-E33: another email, which a stranger can request, leaves digits and link of the first good")
    func newerLeavesOlder() async throws {
        try await run { service in
            let first = try await service.emailCode(to: ada)
            let second = try await service.emailCode(to: ada)
            let third = try await service.emailCode(to: ada)
            if first.digits != second.digits {
                try await service.signIn(first, "\(first.session).\(second.digits)").expectRefused("INVALID_OOB_CODE")
            }
            try await service.signIn(first).expectOK()
            try await service.signIn(second, second.link).expectOK()
            try await service.signIn(third).expectOK()
            for used in [first, second, third] { try await service.signIn(used).expectRefused("INVALID_OOB_CODE") }
        }
    }

    @Test("T-E21: the digits are valid for ten minutes, the link for longer")
    func tenMinutes() async throws {
        try await run { service in
            let sent = try await service.emailCode(to: ada)
            let other = try await service.emailCode(to: "bob@example.com")
            service.clock.advance(by: 599)
            try await service.signIn(sent).expectOK()
            service.clock.advance(by: 1)
            try await service.signIn(other).expectRefused("EXPIRED_OOB_CODE")
            try await service.signIn(other, other.link).expectOK()
        }
    }

    @Test("T-E21: wrong digits count as wrong codes of the network address")
    func limits() async throws {
        try await LimitScene.run {
            $0.emailCodes = true
            $0.rateLimits[.codeTriesPerAddress].count = 3
        } _: { service in
            let sent = try await service.emailCode(to: ada)
            for _ in 0..<3 { try await service.signIn(sent, sent.wrong).expectRefused("INVALID_OOB_CODE") }
            try await service.signIn(sent, sent.wrong).expectRefused(LimitScene.blocked)
        }
    }

    @Test(
        "T-E1: an address that nobody may use gets digits too, which fail in the same way, however long one tries",
        .database
    )
    func decoys() async throws {
        try await run(
            { $0.emailEnumerationProtection = true },
            { service in
                _ = try await service.signUp(ada)
                let disabled = "disabled@example.com"
                _ = try await service.admin("accounts", ["email": .string(disabled), "disabled": true])
                var seen: [[String]] = []
                for address in [ada, disabled, "nobody@example.com"] {
                    let reply = try await service.sendCode(.emailSignIn, ["email": .string(address)])
                    #expect(reply.status == 200 && members(reply) == ["kind", "email", "codeSession"], "\(reply)")
                    let session = try #require(reply["codeSession"]?.string)
                    // What else is done with the address leaves the digits alone.
                    _ = try await service.sendCode(.passwordReset, ["email": .string(address)])
                    service.clock.advance(by: 1)
                    try await service.sweep()
                    var errors: [String] = []
                    for _ in 0..<6 {
                        errors.append(try await service.signInWithLink(address, session + ".x00000").error ?? "")
                        errors.append(try await service.signInWithLink(address, session + ".000000").error ?? "")
                    }
                    seen.append(errors)
                }
                #expect(Set(seen).count == 1, "\(seen)")
                #expect(seen.first?.last == "EXPIRED_OOB_CODE")
            }
        )
    }

    // MARK: Verification

    @Test("verify the email in the session that asked, and end the link beside them")
    func verifies() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let sent = try await service.verificationCode(of: user, at: ada)
            let reply = try await service.verify(sent.digits, user)
            #expect(reply.status == 200 && reply["emailVerified"] == true && reply["idToken"] == nil, "\(reply)")
            #expect(try await service.account(user.localID)?["emailVerified"] == true)
            try await service.refresh(user.refreshToken).expectOK()
            try await service.apply(sent.link).expectRefused("INVALID_OOB_CODE")
            try await service.verify(sent.digits, user).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-E21: no other session of the account verifies with the digits, and none that has ended")
    func otherSession() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let elsewhere = try await service.signInWithPassword(ada)
            let sent = try await service.verificationCode(of: user, at: ada)
            let bob = try await service.signUp("bob@example.com")
            for other in [elsewhere, bob] {
                for _ in 0..<6 { try await service.verify(sent.digits, other).expectRefused("INVALID_OOB_CODE") }
            }
            try await service.apply(sent.digits).expectRefused("INVALID_OOB_CODE")
            _ = try await service.call("accounts:signOut", ["idToken": JSON(user.idToken)])
            try await service.verify(sent.digits, user).expectRefused("TOKEN_EXPIRED")
            #expect(try await service.account(user.localID)?["emailVerified"] != true)
            // The link belongs to the mailbox alone.
            try await service.apply(sent.link).expectOK()
        }
    }

    @Test("T-E21: five wrong tries, by the same statement as for a sign-in")
    func fiveVerifications() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let sent = try await service.verificationCode(of: user, at: ada)
            for _ in 0..<5 {
                try await service.verify(String(sent.wrong.suffix(6)), user).expectRefused("INVALID_OOB_CODE")
            }
            try await service.verify(sent.digits, user).expectRefused("EXPIRED_OOB_CODE")
        }
    }

    @Test("digits of one purpose are none of another")
    func purposes() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let signIn = try await service.emailCode(to: ada)
            try await service.verify(signIn.digits, user).expectRefused("INVALID_OOB_CODE")
            try await service.apply(signIn.code).expectRefused("INVALID_OOB_CODE")
            try await service.inspect(signIn.code).expectRefused("INVALID_OOB_CODE")
            try await service.signIn(signIn).expectOK()
        }
    }

    // MARK: Settings

    @Test("are a setting of the project and of each tenant, off by default")
    func settings() async throws {
        try await MailScene.run({ $0.allowsTenants = true }) { service in
            let plain = try await service.sendCode(.emailSignIn, ["email": .string(ada)])
            #expect(members(plain) == ["kind", "email"], "\(plain)")
            #expect(try await service.mail(.emailSignIn, to: ada).mail.code == nil)
            let on: JSON = ["identity": ["emailCodes": true]]
            let changed = try await service.admin(
                "config?updateMask=identity.emailCodes",
                on,
                method: "PATCH",
                version: "v2"
            )
            #expect(changed["identity"]?["emailCodes"] == true, "\(changed)")
            #expect(try await service.sendCode(.emailSignIn, ["email": .string(ada)])["codeSession"] != nil)

            let made = try await service.admin(
                "tenants",
                ["displayName": "north", "enableEmailLinkSignin": true],
                version: "v2"
            )
            let id = try #require(made["name"]?.string?.split(separator: "/").last)
            let more: JSON = ["email": .string(ada), "tenantId": .string(String(id))]
            #expect(try await service.sendCode(.emailSignIn, more)["codeSession"] == nil, "\(made)")
            _ = try await service.admin(
                "tenants/\(id)?updateMask=identity.emailCodes",
                on,
                method: "PATCH",
                version: "v2"
            )
            #expect(try await service.sendCode(.emailSignIn, more)["codeSession"] != nil)
        }
    }

    @Test("stay valid when another key becomes the first of the ring")
    func olderKey() async throws {
        try await run { service in
            let scope = Scope(project: service.project.id)
            func store(_ keys: [(String, UInt8)]) throws -> OOBCodeStore {
                let ring = try KeyRing(
                    keys: keys.map { try KeyRing.Key(id: $0.0, bytes: [UInt8](repeating: $0.1, count: 32)) }
                )
                return OOBCodeStore(database: service.stores.database, keyRing: ring)
            }
            let address = try #require(EmailAddress(ada))
            var code = NewOOBCode(type: .emailSignIn, owner: ada, email: address, hash: SecureHash.sha256("link"))
            let session = Secret(RandomSource.system.handle())
            code.shortCode = NewShortCode(digits: Secret("123456"), session: session)
            try await store([("2026", 1)]).insert(code, in: scope, now: service.clock.current)
            func attempt(_ keys: [(String, UInt8)]) async throws -> Bool? {
                try await store(keys).attempt(
                    Secret("123456"),
                    session: session,
                    for: .emailSignIn,
                    owner: ada,
                    in: scope
                )?.isRight
            }
            #expect(try await attempt([("2027", 2), ("2026", 1)]) == true)
            #expect(try await attempt([("2027", 2)]) == false)
        }
    }
}
