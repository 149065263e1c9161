import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

/// A way to sign in that opens a session.
private enum SignIn: String, CaseIterable, CustomTestStringConvertible {
    case password, provider, customToken, emailLink, phone, anonymous

    var testDescription: String { rawValue }

    /// Signs in to the same account each time, but for ``anonymous``.
    func callAsFunction(_ world: LinkingWorld) async throws -> Reply {
        let service = world.service
        switch self {
        case .anonymous: return try await service.call("accounts:signUp", ["returnSecureToken": true])
        case .password:
            let known = try await service.signInWithPassword("password@example.com")
            return known.status == 200 ? known : try await service.signUp("password@example.com")
        case .provider: return try await world.acme(world.person(email: "provider@example.com"))
        case .customToken:
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try account.sign(account.payload(uid: "custom", at: service.clock.seconds))
            return try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
        case .emailLink:
            let email = "link@example.com"
            let code = try await service.code(.emailSignIn, ["email": .string(email)], to: email)
            return try await service.signInWithLink(email, code)
        case .phone:
            // By the order of a slow clock, the newest SMS is not the last.
            let project = service.project.id.rawValue
            try await TestDatabase.current.client.execute("DELETE FROM outbox WHERE project = \(project)")
            return try await service.signInByPhone(PhoneScene.number)
        }
    }
}

@Suite("Clocks", .database, .testProvider)
struct ClockTests {
    private static func options(clock: SteppableClock? = nil) -> TestService.Options {
        var options = LinkingWorld.options {
            $0.allowsEmailLink = true
            $0.phone.isEnabled = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
            $0.offerApps()
        }
        options.clock = clock
        return options
    }

    /// Two nodes of one project, the second of which is five seconds behind.
    private static func runApart(
        _ body: @Sendable (_ fast: LinkingWorld, _ slow: LinkingWorld) async throws -> Void
    ) async throws {
        try await TestService.run(options()) { fast in
            let world = try await LinkingWorld(fast)
            var other = options(clock: SteppableClock(fast.clock.current.addingTimeInterval(-5)))
            other.project = fast.project
            try await TestService.run(other) { slow in
                try await slow.stores.configuration.refresh()
                try await body(world, world.on(slow))
            }
        }
    }

    private static func expectGood(
        _ reply: Reply,
        at worlds: LinkingWorld...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(reply.status == 200, "\(reply)", sourceLocation: sourceLocation)
        for world in worlds {
            let found = try await world.service.lookUp(reply.idToken)
            #expect(found.status == 200, "\(found)", sourceLocation: sourceLocation)
            let refreshed = try await world.service.refresh(reply.refreshToken)
            #expect(refreshed.status == 200, "\(refreshed)", sourceLocation: sourceLocation)
        }
    }

    private static func validSince(_ world: LinkingWorld, _ localID: String?) async throws -> Int64 {
        Int64(try await world.service.account(localID)?["validSince"]?.string ?? "") ?? 0
    }

    @Test("a second that ends while a request is answered makes no token that is revoked", arguments: SignIn.allCases)
    fileprivate func readOnce(_ signIn: SignIn) async throws {
        try await TestService.run(Self.options(clock: SteppableClock(tick: 1))) { service in
            let world = try await LinkingWorld(service)
            for _ in 0..<2 { try await Self.expectGood(try await signIn(world), at: world) }
        }
    }

    @Test("nodes whose clocks are seconds apart refuse no user who has just signed in", arguments: SignIn.allCases)
    fileprivate func apart(_ signIn: SignIn) async throws {
        try await Self.runApart { fast, slow in
            let first = try await signIn(fast)
            try await Self.expectGood(first, at: fast, slow)
            try await Self.expectGood(try await signIn(slow), at: slow, fast)
            guard signIn != .anonymous else { return }
            // The account's tokens are revoked by the fast clock.
            _ = try await fast.service.admin(
                "accounts:update",
                ["localId": JSON(first.localID), "validSince": .string("\(fast.service.clock.seconds)")]
            )
            let after = try await signIn(slow)
            try await Self.expectGood(after, at: slow, fast)
            #expect(after.claims["auth_time"]?.number ?? 0 >= Double(try await Self.validSince(slow, first.localID)))
        }
    }

    @Test("linking, a new password and a taken-over account go on at a node that is behind")
    func changesApart() async throws {
        try await Self.runApart { fast, slow in
            let user = try await fast.service.signUp("ada@example.com")
            let linked = try await slow.google(slow.googlePerson(email: "other@example.com"), idToken: user.idToken)
            try await Self.expectGood(linked, at: slow, fast)
            let changed = try await slow.service.call(
                "accounts:update",
                ["idToken": JSON(linked.idToken), "password": "another horse"]
            )
            try await Self.expectGood(changed, at: slow, fast)
            let taken = try await slow.acme(slow.person(email: "ada@example.com"))
            #expect(taken.localID == user.localID)
            try await Self.expectGood(taken, at: slow, fast)
        }
    }

    @Test("T-A2: what a slow node ends is older than `validSince`, whatever the clock that opened it, and stays ended")
    func endedApart() async throws {
        try await Self.runApart { fast, slow in
            let user = try await fast.service.signUp("ada@example.com")
            let other = try await fast.service.signInWithPassword("ada@example.com")
            let before = try await Self.validSince(fast, user.localID)
            let changed = try await slow.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another horse"]
            )
            changed.expectOK()
            let after = try await Self.validSince(fast, user.localID)
            #expect(after >= before, "it only grows")
            // As Admin SDKs compare it with `checkRevoked`.
            #expect(other.claims["auth_time"]?.number ?? 0 < Double(after))
            #expect(changed.claims["auth_time"]?.number ?? 0 >= Double(after))
            for world in [fast, slow] {
                #expect(try await world.service.lookUp(other.idToken).error == "TOKEN_EXPIRED")
                #expect(try await world.service.refresh(other.refreshToken).error == "TOKEN_EXPIRED")
            }
            _ = try await slow.service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "validSince": .string("\(slow.service.clock.seconds)")]
            )
            #expect(try await Self.validSince(fast, user.localID) == after)
        }
    }

    @Test("a pending second factor is good across nodes, and ends with what ends sessions")
    func secondFactorApart() async throws {
        try await Self.runApart { fast, slow in
            let user = try await fast.service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, fast.service)
            fast.service.clock.advance(by: 60)
            slow.service.clock.advance(by: 60)
            let challenge = try await slow.service.signInWithPassword("ada@example.com")
            challenge.expectChallenge(for: app.enrollment)
            try await Self.expectGood(try await app.signIn(challenge), at: fast, slow)
            fast.service.clock.advance(by: 60)
            slow.service.clock.advance(by: 60)
            let late = try await fast.service.signInWithPassword("ada@example.com")
            _ = try await slow.service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "password": "another horse"]
            )
            try await app.signIn(late).expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
        }
    }

    @Test("no two ID tokens are the same string: the Web SDK keeps a new refresh token only beside a new ID token")
    func distinctTokens() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            let again = try await service.signInWithPassword("ada@example.com")
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(again.idToken), "password": "another horse"]
            )
            var refreshed: [Reply] = []
            for _ in 0..<3 { refreshed.append(try await service.refresh(changed.refreshToken)) }
            let tokens = ([user, again, changed] + refreshed).compactMap(\.idToken)
            #expect(tokens.count == 6 && Set(tokens).count == 6)
            #expect(Set(tokens.map { Reply.claims(of: $0)["firebase"]?["jti"]?.string }).count == 6)
            #expect(Set(tokens.map { Reply.claims(of: $0)["iat"]?.number }).count == 1, "within one second")
        }
    }
}
