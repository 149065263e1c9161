import Domain
import Projects
import Storage
import Testing
import TestKit

/// An operation that goes on with a session without proving anything of its account.
struct Continuation: Sendable, CustomTestStringConvertible {
    var name: String
    /// An old session may not do it.
    var isSensitive = false
    var call: @Sendable (LinkingWorld, _ idToken: String?) async throws -> Reply
    var testDescription: String { name }

    static let all: [Continuation] = [
        Continuation(name: "validSince", isSensitive: true) { world, idToken in
            try await world.service.call("accounts:update", ["idToken": JSON(idToken), "validSince": "1"])
        },
        Continuation(name: "remove the address", isSensitive: true) { world, idToken in
            try await world.service.call("accounts:update", ["idToken": JSON(idToken), "deleteAttribute": ["EMAIL"]])
        },
        Continuation(name: "change the address", isSensitive: true) { world, idToken in
            try await world.service.call("accounts:update", ["idToken": JSON(idToken), "email": "new@example.com"])
        },
        Continuation(name: "link a provider") { world, idToken in
            try await world.acme(world.person("eve", email: "eve@example.com"), idToken: idToken)
        },
        Continuation(name: "link a phone number") { world, idToken in
            try await world.service.signInByPhone(PhoneScene.number, idToken: idToken)
        },
        Continuation(name: "link a pending credential") { world, idToken in
            let conflict = try await world.github(world.githubPerson())
            return try await world.resume(conflict.pendingToken, idToken: idToken)
        },
    ]
}

@Suite("T-A15: a session that goes on proves nothing", .database, .testProvider, .serialized)
struct ContinuedSessionTests {
    static func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (LinkingWorld) async throws -> Void
    ) async throws {
        try await LinkingWorld.run {
            $0.phone.isEnabled = true
            $0.keepLastSignInMethod = false
            $0.allowsEmailLink = true
            $0.offerApps()
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
            change(&$0)
        } _: { world in
            _ = try await world.service.signUp("bob@example.com")
            try await body(world)
        }
    }

    /// The sign-in that ada's sessions stand for, and no other.
    private func expectOld(_ world: LinkingWorld, _ idToken: String?) async throws {
        let sensitive: [(String, JSON)] = [
            ("accounts:update", ["password": "another horse"]), ("accounts:delete", [:]),
            ("accounts:update", ["validSince": "1"]),
        ]
        for (path, body) in sensitive {
            try await world.service.call(path, body.merging(["idToken": JSON(idToken)]))
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("it keeps auth_time, in its tokens and after a refresh", arguments: Continuation.all)
    func keepsAuthTime(continuation: Continuation) async throws {
        try await Self.run { world in
            let user = try await world.service.signUp("ada@example.com")
            world.service.clock.advance(by: 200)
            let reply = try await continuation.call(world, user.idToken)
            reply.expectOK()
            #expect(reply.claims["auth_time"] == user.claims["auth_time"])
            let refreshed = try await world.service.refresh(reply.refreshToken)
            #expect(refreshed.claims["auth_time"] == user.claims["auth_time"], "\(refreshed)")
            try await world.service.lookUp(reply.idToken).expectOK()
            world.service.clock.advance(by: 101)
            try await expectOld(world, reply.idToken)
            try await expectOld(world, refreshed.idToken)
        }
    }

    @Test("an old session becomes no recent one by it", arguments: Continuation.all)
    func staysOld(continuation: Continuation) async throws {
        try await Self.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let elsewhere = try await world.service.signInWithPassword("ada@example.com")
            world.service.clock.advance(by: 301)
            let reply = try await continuation.call(world, user.idToken)
            if continuation.isSensitive {
                reply.expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            } else {
                reply.expectOK()
            }
            try await expectOld(world, reply.idToken ?? user.idToken)
            try await world.service.refresh(elsewhere.refreshToken).expectOK()
        }
    }

    @Test("a first address by the link of a mail keeps auth_time, the account's own address signs in again")
    func emailLinks() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.signInByPhone(PhoneScene.number)
            service.clock.advance(by: 301)
            let first = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let linked = try await service.signInWithLink("ada@example.com", first, idToken: user.idToken)
            #expect(linked.claims["auth_time"] == user.claims["auth_time"], "\(linked)")
            try await expectOld(world, linked.idToken)
            let second = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let again = try await service.signInWithLink("ada@example.com", second, idToken: linked.idToken)
            #expect(again.claims["auth_time"]?.number == Double(service.clock.seconds), "\(again)")
            #expect(again.claims["firebase"]?["sid"] == user.claims["firebase"]?["sid"])
            try await service.call("accounts:delete", ["idToken": JSON(again.idToken)]).expectOK()
        }
    }

    @Test("T-A2: ending the others raises validSince beyond the newest sign-in, and the session that stays goes on")
    func endsTheOthers() async throws {
        try await Self.run { world in
            let service = world.service
            let before = try await service.signUp("ada@example.com")
            service.clock.advance(by: 10)
            let user = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 10)
            let later = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 10)
            let reply = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "new@example.com"]
            )
            let began = try #require(reply.claims["auth_time"]?.number)
            #expect(began == (later.claims["auth_time"]?.number ?? 0) + 1)
            #expect(try await service.account(user.localID)?["validSince"] == .string("\(Int64(began))"))
            try await service.refresh(reply.refreshToken).expectOK()
            try await service.lookUp(reply.idToken).expectOK()
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            for ended in [before, later] {
                #expect(try await service.refresh(ended.refreshToken).error == "TOKEN_EXPIRED")
                try await service.lookUp(ended.idToken).expectRefused("TOKEN_EXPIRED")
            }
        }
    }

    @Test(
        "a new password is one that its user has just given: it counts as a sign-in, and ends every token from before"
    )
    func setsThePassword() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 200)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another horse"]
            )
            #expect(changed.claims["auth_time"]?.number == Double(service.clock.seconds), "\(changed)")
            try await service.lookUp(user.idToken).expectRefused("TOKEN_EXPIRED")
        }
    }

    @Test("an account with a second factor asks an old session for a sign-in before it links or unlinks")
    func asksForTheSecondFactor() async throws {
        try await Self.run { world in
            let service = world.service
            let linked = try await world.acme(
                world.person("ada"),
                idToken: service.verifiedUser().idToken
            )
            let (app, user) = try await AuthenticatorApp.enroll(linked.idToken, service)
            service.clock.advance(by: 301)
            let unlink: JSON = ["idToken": JSON(user.idToken), "deleteProvider": ["oidc.acme"]]
            try await service.call("accounts:update", unlink).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await world.google(world.googlePerson("eve", email: "eve@example.com"), idToken: user.idToken)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await service.withdraw(app.enrollment, user.idToken)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let again = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            let google = try await world.google(
                world.googlePerson("eve", email: "eve@example.com"),
                idToken: again.idToken
            )
            google.expectSignedIn(as: user.localID)
            #expect(google.claims["firebase"]?["second_factor_identifier"]?.string == app.enrollment)
            let unlinked = try await service.call(
                "accounts:update",
                ["idToken": JSON(google.idToken), "deleteProvider": ["oidc.acme"]]
            )
            unlinked.expectOK()
        }
    }

    @Test("a project asks every account, or none", arguments: MethodChangePolicy.allCases)
    func followsTheSetting(policy: MethodChangePolicy) async throws {
        try await Self.run({ $0.methodChanges = policy }) { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            let (app, factored) = try await AuthenticatorApp.enroll(
                try await service.verifiedUser("carl@example.com").idToken,
                service
            )
            #expect(!app.enrollment.isEmpty)
            service.clock.advance(by: 301)
            for (reply, isAsked) in [
                (user, policy == .recentSignIn), (factored, policy != .anySession),
            ] {
                let subject = reply.localID ?? factored.claims["sub"]?.string ?? ""
                let linked = try await world.acme(
                    world.person(subject, email: "\(isAsked)@example.org"),
                    idToken: reply.idToken
                )
                if isAsked {
                    linked.expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
                } else {
                    linked.expectOK()
                }
            }
        }
    }

    @Test("a guest becomes a lasting account with its own session, whatever its age", arguments: 0..<4)
    func upgradesGuests(method: Int) async throws {
        try await Self.run {
            $0.anonymousSignIn = true
            $0.methodChanges = .recentSignIn
            $0.emailEnumerationProtection = true
        } _: { world in
            let service = world.service
            let guest = try await service.call("accounts:signUp")
            service.clock.advance(by: 3000)
            let upgraded: Reply
            switch method {
            case 0:
                upgraded = try await service.call(
                    "accounts:signUp",
                    ["idToken": JSON(guest.idToken), "email": "ada@example.com", "password": "correct horse"]
                )
            case 1: upgraded = try await world.acme(world.person(), idToken: guest.idToken)
            case 2: upgraded = try await service.signInByPhone(PhoneScene.number, idToken: guest.idToken)
            default:
                let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
                upgraded = try await service.signInWithLink("ada@example.com", code, idToken: guest.idToken)
            }
            #expect(upgraded.status == 200 && upgraded.localID == guest.localID, "\(upgraded)")
        }
    }

    @Test("linking a password with another address is changing the address, by the same rules")
    func linksNoOtherAddress() async throws {
        try await Self.run({ $0.emailEnumerationProtection = true }) { world in
            let user = try await world.service.verifiedUser()
            let body: JSON = ["idToken": JSON(user.idToken), "email": "eve@example.com"]
            for reply in [
                try await world.service.call("accounts:signUp", body.merging(["password": "another horse"])),
                try await world.service.call("accounts:update", body),
            ] {
                reply.expectRefused("OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
            }
            let own = try await world.service.call(
                "accounts:signUp",
                ["idToken": JSON(user.idToken), "email": "ada@example.com", "password": "another horse"]
            )
            #expect(own.status == 200 && own["emailVerified"] != false, "\(own)")
        }
    }

    @Test("an old session links no password, neither with the account's own address nor with another or a first one")
    func linksNoPassword() async throws {
        try await Self.run({ $0.methodChanges = .anySession }) { world in
            let service = world.service
            let ada = try await service.signUp("ada@example.com")
            let phone = try await service.signInByPhone(PhoneScene.number)
            service.clock.advance(by: 301)
            for (user, email) in [(ada, "ada@example.com"), (ada, "eve@example.com"), (phone, "eve@example.com")] {
                try await service.call(
                    "accounts:signUp",
                    ["idToken": JSON(user.idToken), "email": .string(email), "password": "stolen horse"]
                )
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            }
            try await service.signInWithPassword("ada@example.com").expectOK()
            #expect(try await service.account(phone.localID)?["email"] == nil)
        }
    }

    @Test("unlinking a number and linking another one is replacing it: no old session does")
    func replacesNoNumber() async throws {
        try await Self.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let linked = try await world.service.signInByPhone(PhoneScene.number, idToken: user.idToken)
            world.service.clock.advance(by: 301)
            try await world.service.call(
                "accounts:update",
                ["idToken": JSON(linked.idToken), "deleteProvider": ["phone"]]
            )
            .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            #expect(try await world.service.account(user.localID)?["phoneNumber"]?.string == PhoneScene.number)
        }
    }

    @Test("the link of a mail is a first factor alone: it makes no session recent that needs two")
    func linksAreNoSecondFactor() async throws {
        try await Self.run { world in
            let service = world.service
            let (app, user) = try await AuthenticatorApp.enroll(try await service.verifiedUser().idToken, service)
            service.clock.advance(by: 301)
            let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let again = try await service.signInWithLink("ada@example.com", code, idToken: user.idToken)
            #expect(again.claims["auth_time"] == user.claims["auth_time"], "\(again)")
            #expect(again.claims["firebase"]?["second_factor_identifier"]?.string == app.enrollment)
            try await expectOld(world, again.idToken)
        }
    }

    @Test(
        "the password goes after a recent sign-in alone, by either name and whatever the project says of methods",
        arguments: [["deleteProvider": ["password"]], ["deleteAttribute": ["PASSWORD"]]] as [JSON]
    )
    func keepsThePassword(body: JSON) async throws {
        try await Self.run({ $0.methodChanges = .anySession }) { world in
            let user = try await world.service.signUp("ada@example.com")
            try await world.acme(world.person(email: "ada@example.org"), idToken: user.idToken)
                .expectSignedIn(as: user.localID)
            world.service.clock.advance(by: 301)
            try await world.service.call("accounts:update", body.merging(["idToken": JSON(user.idToken)]))
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            #expect(try await world.service.account(user.localID)?.providers.contains("password") == true)
        }
    }

    @Test("an enrolment that ends after the recent sign-in did leaves the session as old as it is")
    func finishesLate() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.verifiedUser()
            let started = try AuthenticatorApp.Started(try await service.startEnrollment(user.idToken), service)
            service.clock.advance(by: 600)
            let enrolled = try await service.finishEnrollment(
                user.idToken,
                sessionInfo: started.session,
                code: started.code()
            )
            #expect(enrolled.claims["auth_time"] == user.claims["auth_time"], "\(enrolled)")
            #expect(enrolled.claims["firebase"]?["sign_in_second_factor"] == "totp")
            try await expectOld(world, enrolled.idToken)
        }
    }

    @Test(
        "an enrolment that began before the account had a second factor ends with a session that proved that one alone"
    )
    func finishesWithTheOtherFactor() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.verifiedUser()
            let started = try AuthenticatorApp.Started(try await service.startEnrollment(user.idToken), service)
            // By an admin: whoever enrols one ends all other sessions.
            try await world.update(
                user.localID,
                ["mfa": ["enrollments": [["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567"]]]]
            )
            try await service.finishEnrollment(user.idToken, sessionInfo: started.session, code: started.code())
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            #expect(try await service.account(user.localID)?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("a session of a first factor alone does nothing sensitive to an account with two")
    func firstFactorAlone() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.verifiedUser()
            try await world.update(
                user.localID,
                ["mfa": ["enrollments": [["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567"]]]]
            )
            try await expectOld(world, user.idToken)
            try await service.sendCode(
                .verifyAndChangeEmail,
                ["idToken": JSON(user.idToken), "newEmail": "eve@example.com"]
            )
            .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("reauthentication by phone and by the link of a mail is in the audit log")
    func recordsReauthentication() async throws {
        try await Self.run { world in
            let service = world.service
            let user = try await service.signInByPhone(PhoneScene.number)
            func signIns(_ localID: String?) async throws -> Int {
                let log = try await service.admin("auditEntries?localId=\(localID ?? "")&action=SIGNED_IN")
                return log["auditEntries"]?.array?.count ?? 0
            }
            let before = try await signIns(user.localID)
            let again = try await service.signInByPhone(PhoneScene.number, idToken: user.idToken)
            again.expectOK()
            #expect(try await signIns(user.localID) == before + 1)
            let ada = try await service.verifiedUser()
            let opened = try await signIns(ada.localID)
            let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let linked = try await service.signInWithLink("ada@example.com", code, idToken: ada.idToken)
            linked.expectOK()
            #expect(try await signIns(ada.localID) == opened + 1)
        }
    }
}
