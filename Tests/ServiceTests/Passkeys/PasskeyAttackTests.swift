import Crypto
import Domain
import Foundation
import InMemoryLogging
import Passkeys
import Projects
import StrictJSON
import Testing
import TestKit

@Suite("Passkeys that do not sign in", .database)
struct PasskeyAttackTests {
    // MARK: Challenges

    @Test("T-D19: a challenge is used once, whatever came of it")
    func replay() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let challenge = try await service.passkeyChallenge()
            let assertion = passkey.assertion(for: challenge)
            try await service.finishPasskeySignIn(assertion).expectOK()
            try await service.finishPasskeySignIn(assertion).expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
            // Also by a response that was refused.
            let spent = try await service.passkeyChallenge()
            var phished = passkey
            phished.origin = "https://example.org"
            try await service.finishPasskeySignIn(phished.assertion(for: spent))
                .expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
            try await service.finishPasskeySignIn(passkey.assertion(for: spent))
                .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
        }
    }

    @Test("T-D19: of simultaneous responses to one challenge, one signs in", .timeLimit(.minutes(RaceRounds.minutes)))
    func race() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            for _ in 0..<RaceRounds.count {
                let assertion = passkey.assertion(for: try await service.passkeyChallenge())
                let codes = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<4 {
                        group.addTask { try await service.finishPasskeySignIn(assertion).error ?? "signed in" }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(codes.count { $0 == "signed in" } == 1, "\(codes)")
                #expect(codes.count { $0 == "PASSKEY_CHALLENGE_TIMEOUT" } == 3, "\(codes)")
            }
        }
    }

    @Test("a challenge ends after five minutes")
    func expires() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let challenge = try await service.passkeyChallenge()
            service.clock.advance(by: 301)
            try await service.finishPasskeySignIn(passkey.assertion(for: challenge))
                .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
        }
    }

    @Test("T-D20: nobody enrolls into another account, another session, or by the challenge of a sign-in")
    func foreignEnrollment() async throws {
        try await PasskeyScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let later = try await service.signInWithPassword("ada@example.com")
            let thief = try await service.signUp("thief@example.com")
            let started = try await service.startEnrollingPasskey(thief.idToken)["credentialCreationOptions"]
            let passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(started?["user"]?["id"]))
            let challenge = try PasskeyScene.bytes(started?["challenge"])
            for (idToken, challenge) in [
                (ada.idToken, challenge), (ada.idToken, try await service.passkeyChallenge()),
                (later.idToken, try await enrollmentChallenge(ada.idToken, service)),
            ] {
                try await service.finishEnrollingPasskey(idToken, passkey.registration(for: challenge))
                    .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
            }
            #expect(try await service.account(ada.localID)?["passkeyInfo"] == nil)
            // The thief's own challenge is still unused; an enrollment's challenge is no sign-in's.
            #expect(
                try await service.finishEnrollingPasskey(thief.idToken, passkey.registration(for: challenge)).status
                    == 200
            )
            let other = try await enrollmentChallenge(thief.idToken, service)
            try await service.finishPasskeySignIn(passkey.assertion(for: other))
                .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
        }
    }

    @Test("T-D20: of two accounts that enroll one credential at once, one gets it")
    func claimRace() async throws {
        try await PasskeyScene.run { service in
            let users = [try await service.signUp("ada@example.com"), try await service.signUp("bob@example.com")]
            for _ in 0..<RaceRounds.count / 4 {
                let passkey = SoftwareAuthenticator(userHandle: [])
                let challenges = try await [
                    enrollmentChallenge(users[0].idToken, service), enrollmentChallenge(users[1].idToken, service),
                ]
                async let one = service.finishEnrollingPasskey(
                    users[0].idToken,
                    passkey.registration(for: challenges[0])
                )
                async let other = service.finishEnrollingPasskey(
                    users[1].idToken,
                    passkey.registration(for: challenges[1])
                )
                let errors = try await [one.error, other.error]
                #expect(errors.contains(nil) && errors.contains("PASSKEY_EXISTS"), "\(errors)")
            }
        }
    }

    private func enrollmentChallenge(_ idToken: String?, _ service: TestService) async throws -> [UInt8] {
        let started = try await service.startEnrollingPasskey(idToken)["credentialCreationOptions"]
        return try PasskeyScene.bytes(started?["challenge"])
    }

    // MARK: Projects and tenants

    @Test("T-D21: a passkey and a challenge are of one tenant")
    func tenants() async throws {
        try await PasskeyScene.run { service in
            let members: JSON = ["allowPasswordSignup": true, "passkeyConfig": PasskeyScene.config]
            let (first, second) = (
                try await service.makeTenant("first", members), try await service.makeTenant("second", members)
            )
            let user = try await service.call(
                "accounts:signUp",
                ["email": "ada@example.com", "password": "correct horse", "tenantId": .string(first)]
            )
            let (passkey, enrolled) = try await service.enrollPasskey(user.idToken, in: first)
            enrolled.expectOK()
            #expect(try await service.signIn(with: passkey, in: first).localID == user.localID)
            for tenant in [second, nil] {
                try await service.signIn(with: passkey, in: tenant).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
                let challenge = try await service.passkeyChallenge(in: tenant)
                try await service.finishPasskeySignIn(passkey.assertion(for: challenge), in: first)
                    .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
            }
        }
    }

    @Test("T-D21: a passkey and a challenge are of one project")
    func projects() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            try await PasskeyScene.run { other in
                try await other.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
                let challenge = try await other.passkeyChallenge()
                try await service.finishPasskeySignIn(passkey.assertion(for: challenge))
                    .expectRefused("PASSKEY_CHALLENGE_TIMEOUT")
            }
        }
    }

    // MARK: Verification

    @Test("T-D22: a response from another site, or for another account, is refused")
    func wrongResponses() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let changes: [(String, @Sendable (inout SoftwareAuthenticator) -> Void)] = [
                ("origin", { $0.origin = "https://example.com.evil.example" }), ("port", { $0.origin += ":8443" }),
                ("RP ID", { $0.relyingParty = "example.org" }),
                ("cross origin", { $0.members = [.init(name: "crossOrigin", value: .bool(true))] }),
                ("ceremony", { $0.type = "webauthn.create" }), ("no user", { $0.flags = 0x1c }),
                ("backup eligibility", { $0.flags = 0x05 }), ("handle", { $0.userHandle = Array("bob".utf8) }),
                ("no handle", { $0.userHandle = nil }), ("key", { $0.key = .init() }),
            ]
            for (name, change) in changes {
                var changed = passkey
                change(&changed)
                let reply = try await service.signIn(with: changed)
                #expect(reply.error == "INVALID_AUTHENTICATOR_RESPONSE", "\(name): \(reply)")
            }
            try await service.signIn(with: passkey).expectOK()
        }
    }

    @Test("a registration from another site stores nothing")
    func wrongRegistrations() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let changes: [@Sendable (inout SoftwareAuthenticator) -> Void] = [
                { $0.origin = "https://example.org" }, { $0.relyingParty = "example.org" },
                { $0.members = [.init(name: "crossOrigin", value: .bool(true))] }, { $0.type = "webauthn.get" },
                { $0.flags = 0x1c }, { $0.publicKey = [1: 2, 3: -7] },
            ]
            for change in changes {
                try await service.enrollPasskey(user.idToken, change).reply
                    .expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
            }
            #expect(try await service.account(user.localID)?["passkeyInfo"] == nil)
        }
    }

    @Test("user verification is required if the project says so")
    func userVerification() async throws {
        try await PasskeyScene.run({ $0.passkeys.userVerification = .required }) { service in
            let user = try await service.signUp("ada@example.com")
            try await service.enrollPasskey(user.idToken) { $0.flags = 0x19 }.reply
                .expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
            var (passkey, _) = try await service.enrollPasskey(user.idToken)
            try await service.signIn(with: passkey).expectOK()
            passkey.flags = 0x19
            try await service.signIn(with: passkey).expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
        }
    }

    @Test("T-D23: a counter that does not increase is logged, and refused unless the project allows it")
    func clone() async throws {
        for refuses in [true, false] {
            try await PasskeyScene.run({ $0.passkeys.refusesClones = refuses }) { service in
                let user = try await service.signUp("ada@example.com")
                var (passkey, _) = try await service.enrollPasskey(user.idToken) { $0.signCount = 7 }
                passkey.signCount = 9
                try await service.signIn(with: passkey).expectOK()
                let reply = try await service.signIn(with: passkey)
                #expect(reply.error == (refuses ? "INVALID_AUTHENTICATOR_RESPONSE" : nil), "\(reply)")
                #expect(service.logs.entries.contains { "\($0.message)".contains("a copy may exist") })
                passkey.signCount = 8
                #expect(try await service.signIn(with: passkey).error == reply.error)
                passkey.signCount = 10
                try await service.signIn(with: passkey).expectOK()
            }
        }
    }

    @Test("T-D23: simultaneous uses of two passkeys lose no counter", .timeLimit(.minutes(RaceRounds.minutes)))
    func counters() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            var passkeys: [SoftwareAuthenticator] = []
            for _ in 0..<2 {
                passkeys.append(try await service.enrollPasskey(user.idToken) { $0.signCount = 1 }.passkey)
            }
            for _ in 0..<RaceRounds.count {
                for index in passkeys.indices { passkeys[index].signCount += 1 }
                let assertions = try await [
                    passkeys[0].assertion(for: service.passkeyChallenge()),
                    passkeys[1].assertion(for: service.passkeyChallenge()),
                ]
                async let one = service.finishPasskeySignIn(assertions[0])
                async let other = service.finishPasskeySignIn(assertions[1])
                #expect(try await [one.status, other.status] == [200, 200])
                for passkey in passkeys {
                    try await service.signIn(with: passkey).expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
                }
            }
        }
    }

    // MARK: Accounts

    @Test("a disabled account's passkey does not sign in, and tells nothing without its key")
    func disabled() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": true])
            try await service.signIn(with: passkey).expectRefused("USER_DISABLED")
            var other = passkey
            other.key = .init()
            try await service.signIn(with: other).expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
        }
    }

    @Test("without a configuration, passkeys are off")
    func off() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            try await service.startEnrollingPasskey(user.idToken).expectRefused("PASSKEY_NOT_ENABLED")
            let reply = try await service.post("/v2/accounts/passkeySignIn:start?key=\(service.apiKey)", text: "{}")
            reply.expectRefused("PASSKEY_NOT_ENABLED")
        }
    }
}
