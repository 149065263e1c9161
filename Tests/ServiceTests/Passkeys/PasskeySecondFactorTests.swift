import Domain
import Projects
import Storage
import Testing
import TestKit

/// `passkeyConfig.secondFactor`: who signs in by another method shows a passkey as well.
@Suite("Passkeys as the second factor", .database)
struct PasskeySecondFactorTests {
    /// Somebody with a password and a passkey, in a project that asks for both.
    private struct Owner {
        let service: TestService
        let email = "ada@example.com"
        let localID: String
        var passkey: SoftwareAuthenticator

        init(_ service: TestService) async throws {
            self.service = service
            let user = try await service.signUp(email)
            localID = try #require(user.localID, "\(user)")
            (passkey, _) = try await service.enrollPasskey(user.idToken)
        }

        func signInWithPassword() async throws -> Reply { try await service.signInWithPassword(email) }

        /// The challenge for the passkey, after the password.
        func start(_ asked: Reply) async throws -> [UInt8] {
            let reply = try await service.second("start", asked, ["mfaEnrollmentId": "passkey"])
            let options = reply["passkeyResponseInfo"]?["credentialRequestOptions"]
            let allowed = options?["allowCredentials"]?.array?.compactMap { $0["id"]?.string }
            #expect(allowed == [PasskeyScene.base64(passkey.id)], "\(reply)")
            return try PasskeyScene.bytes(options?["challenge"])
        }

        func finish(_ asked: Reply, _ assertion: JSON) async throws -> Reply {
            let info: JSON = ["authenticatorAuthenticationResponse": assertion]
            return try await service.second("finalize", asked, ["passkeyVerificationInfo": info])
        }
    }

    private static func run(
        _ change: (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (Owner) async throws -> Void
    ) async throws {
        try await PasskeyScene.run({
            $0.passkeys.isSecondFactor = true
            change(&$0)
        }) { service in try await body(try await Owner(service)) }
    }

    @Test("a password leads to the passkey, and both to a session with two factors")
    func bothFactors() async throws {
        try await Self.run { owner in
            var owner = owner
            let asked = try await owner.signInWithPassword()
            #expect(asked.idToken == nil && asked["mfaInfo"]?.array?.first?["passkeyInfo"] != nil, "\(asked)")
            // As a second factor, the device alone is enough.
            owner.passkey.flags = 0x19
            let reply = try await owner.finish(asked, owner.passkey.assertion(for: owner.start(asked)))
            let firebase = reply.claims["firebase"]
            #expect(firebase?["sign_in_provider"] == "password", "\(reply)")
            #expect(firebase?["sign_in_second_factor"] == "passkey")
            let changed: JSON = ["idToken": JSON(reply.idToken), "password": "another correct horse"]
            try await owner.service.call("accounts:update", changed).expectOK()
        }
    }

    @Test("T-D23: a copy is also noticed where the passkey is the second factor")
    func clone() async throws {
        try await Self.run { owner in
            var owner = owner
            owner.passkey.signCount = 9
            let first = try await owner.signInWithPassword()
            try await owner.finish(first, owner.passkey.assertion(for: owner.start(first))).expectOK()
            let second = try await owner.signInWithPassword()
            try await owner.finish(second, owner.passkey.assertion(for: owner.start(second)))
                .expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
        }
    }

    @Test("as the first factor a passkey is not asked for again, and without the setting it is no second one")
    func firstFactor() async throws {
        try await Self.run { owner in
            var owner = owner
            let verified = try await owner.service.signIn(with: owner.passkey)
            #expect(verified.claims["firebase"]?["sign_in_second_factor"] == "passkey", "\(verified)")
            owner.passkey.flags = 0x19
            #expect(try await owner.service.signIn(with: owner.passkey).idToken != nil)
        }
        try await Self.run({ $0.passkeys.isSecondFactor = false }) { owner in
            let reply = try await owner.signInWithPassword()
            #expect(reply.idToken != nil, "\(reply)")
        }
    }

    @Test("T-D29: another account's passkey, another ceremony's challenge, and an old pending sign-in prove nothing")
    func foreignProofs() async throws {
        try await Self.run { owner in
            let service = owner.service
            let asked = try await owner.signInWithPassword()
            let other = try await service.signUp("mallory@example.com")
            let (theirs, _) = try await service.enrollPasskey(other.idToken)

            // A passkey of somebody else, for the right challenge.
            let foreign = try await owner.finish(asked, theirs.assertion(for: owner.start(asked)))
            #expect(foreign.code == "PASSKEY_ENROLLMENT_NOT_FOUND", "\(foreign)")
            // A challenge of a plain sign-in, and the other way round.
            let plain = try await service.passkeyChallenge()
            let crossed = try await owner.finish(asked, owner.passkey.assertion(for: plain))
            #expect(crossed.code == "PASSKEY_CHALLENGE_TIMEOUT", "\(crossed)")
            let challenge = try await owner.start(asked)
            let entered = try await service.finishPasskeySignIn(owner.passkey.assertion(for: challenge))
            #expect(entered.code == "PASSKEY_CHALLENGE_TIMEOUT", "\(entered)")
            // A challenge of another account's sign-in.
            let theirAsked = try await service.signInWithPassword("mallory@example.com")
            let reply = try await service.second("start", theirAsked, ["mfaEnrollmentId": "passkey"])
            let theirChallenge = try PasskeyScene.bytes(
                reply["passkeyResponseInfo"]?["credentialRequestOptions"]?["challenge"]
            )
            let swapped = try await owner.finish(asked, owner.passkey.assertion(for: theirChallenge))
            #expect(swapped.code == "PASSKEY_CHALLENGE_TIMEOUT", "\(swapped)")
            // Twice, late, or after the password changed.
            let assertion = try await owner.passkey.assertion(for: owner.start(asked))
            #expect(try await owner.finish(asked, assertion).idToken != nil)
            #expect(try await owner.finish(asked, assertion).code == "PASSKEY_CHALLENGE_TIMEOUT")
            let late = try await owner.signInWithPassword()
            let lateAssertion = try await owner.passkey.assertion(for: owner.start(late))
            let change: JSON = ["localId": .string(owner.localID), "password": "another correct horse"]
            _ = try await service.admin("accounts:update", change)
            let over = try await owner.finish(late, lateAssertion)
            #expect(over.code == "INVALID_MFA_PENDING_CREDENTIAL", "\(over)")
        }
    }

    @Test("T-D29: the first passkey ends the sessions that did not prove it, and a second one does not")
    func endsOthers() async throws {
        try await PasskeyScene.run({ $0.passkeys.isSecondFactor = true }) { service in
            let user = try await service.signUp("ada@example.com")
            let other = try await service.signInWithPassword("ada@example.com")
            let (_, enrolled) = try await service.enrollPasskey(user.idToken)
            #expect(try await service.refresh(other.refreshToken).error == "TOKEN_EXPIRED")
            try await service.refresh(enrolled.refreshToken).expectOK()
        }
    }

    @Test("T-A7: a restored address that was never verified brings no passkey of before back")
    func restoredAddress() async throws {
        try await PasskeyScene.run({ $0.emailEnumerationProtection = false }) { service in
            let victim = "victim@example.com"
            let stranger = try await service.signUp(victim)
            let (_, first) = try await service.enrollPasskey(stranger.idToken)
            let removed = try await service.call(
                "accounts:update",
                ["idToken": JSON(first.idToken), "deleteAttribute": ["EMAIL"]]
            )
            removed.expectOK()
            let code = try await service.mail(.recoverEmail, to: victim).code
            service.clock.advance(by: 5)
            _ = try await service.enrollPasskey(removed.idToken ?? first.idToken)
            #expect(try await service.apply(code)["email"]?.string == victim)
            _ = try await service.admin(
                "passkeyConfig?updateMask=secondFactor",
                ["secondFactor": true],
                method: "PATCH",
                version: "v2"
            )
            let reset = try await service.code(.passwordReset, ["email": .string(victim)], to: victim)
            try await service.reset(reset, to: "the victim's own").expectOK()
            #expect(try await service.signInWithPassword(victim, "the victim's own").idToken != nil)
        }
    }

    @Test(
        "T-D29: one factor alone neither removes the passkey nor adds another, and no other method gets around it",
        arguments: MethodChangePolicy.allCases
    )
    func downgrade(_ policy: MethodChangePolicy) async throws {
        try await Self.run({
            $0.allowsEmailLink = true
            $0.methodChanges = policy
            $0.passkeys.isSecondFactor = false
        }) { owner in
            let service = owner.service
            let before = try await owner.signInWithPassword()
            _ = try await service.admin(
                "passkeyConfig?updateMask=secondFactor",
                ["secondFactor": true],
                method: "PATCH",
                version: "v2"
            )
            let delete: JSON = [
                "idToken": JSON(before.idToken), "deletePasskey": [.string(PasskeyScene.base64(owner.passkey.id))],
            ]
            try await service.call("accounts:update", delete).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await service.startEnrollingPasskey(before.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try account.sign(account.payload(uid: owner.localID, at: service.clock.seconds))
            let vouched = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            #expect(vouched.idToken != nil && vouched.claims["firebase"]?["sign_in_second_factor"] == nil, "\(vouched)")
            _ = try await service.admin(
                "config?updateMask=identity.customTokensNeedSecondFactor",
                ["identity": ["customTokensNeedSecondFactor": true]],
                method: "PATCH",
                version: "v2"
            )
            let custom = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            #expect(custom.idToken == nil && custom["mfaPendingCredential"] != nil, "\(custom)")
        }
    }
}

extension TestService {
    fileprivate func second(_ step: String, _ asked: Reply, _ more: [String: JSON]) async throws -> Reply {
        let pending: [String: JSON] = ["mfaPendingCredential": asked["mfaPendingCredential"] ?? .null]
        let body = JSON.object(pending.merging(more) { $1 })
        return try await post("/v2/accounts/mfaSignIn:\(step)?key=\(apiKey)", text: body.text)
    }
}
