import Projects
import Storage
import TestKit
import Testing

@Suite("Messages about new passkeys", .database)
struct PasskeyNoticeTests {
    private static let ada = "ada@example.com"

    @Test("T-D35: the owner hears of each new passkey, and the link removes that one with every session")
    func reverts() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.verifiedUser(Self.ada)
            let (own, first) = try await service.enrollPasskey(user.idToken)
            let earlier = try await service.mail(.revertSecondFactor, to: Self.ada)
            let (stolen, enrolled) = try await service.enrollPasskey(first.idToken)
            let mail = try await service.mail(.revertSecondFactor, to: Self.ada, besides: [earlier.code])
            let factor = try await service.inspect(mail.code)["mfaInfo"]
            #expect(factor?["mfaEnrollmentId"]?.string == PasskeyScene.base64(stolen.id), "\(factor?.text ?? "")")
            #expect(factor?["passkeyInfo"] != nil)
            #expect(factor?["totpInfo"] != nil, "the Web SDK takes no code without it")
            #expect(try await service.open(ActionLinkItems(mail)).text.contains("<dd><bdi>Passkey</bdi></dd>"))
            service.clock.advance(by: 5)
            try await service.apply(mail.code).expectOK()
            let left = try await service.account(user.localID)?["passkeyInfo"]?.array
            #expect(left?.compactMap { $0["credentialId"]?.string } == [PasskeyScene.base64(own.id)])
            try await service.signIn(with: stolen).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            #expect(try await service.refresh(enrolled.refreshToken).error == "TOKEN_EXPIRED")
            try await service.apply(mail.code).expectRefused("INVALID_OOB_CODE")
            try await service.signIn(with: own).expectOK()
        }
    }

    @Test("T-D35: a thief's passkey as the second factor does not keep the owner out")
    func lockOut() async throws {
        try await PasskeyScene.run({ $0.passkeys.isSecondFactor = true }) { service in
            let thief = try await service.verifiedUser(Self.ada)
            _ = try await service.enrollPasskey(thief.idToken)
            #expect(try await service.signInWithPassword(Self.ada).idToken == nil)
            let mail = try await service.mail(.revertSecondFactor, to: Self.ada)
            try await service.apply(mail.code).expectOK()
            #expect(try await service.signInWithPassword(Self.ada).idToken != nil)
        }
    }

    @Test("T-E7: an email that nobody verified gets no message about a passkey")
    func unverified() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp(Self.ada)
            try await service.enrollPasskey(user.idToken).reply.expectOK()
            #expect(try await service.mails().isEmpty)
        }
    }

    @Test("T-E7: whoever adds passkeys again and again has no more mails sent than an account may")
    func limit() async throws {
        try await LimitScene.run({
            $0.passkeys.relyingPartyID = "example.com"
            $0.passkeys.origins = ["https://example.com"]
        }) { service in
            try await service.limit(["mailsPerAccount": ["count": 2, "seconds": 3_600]])
            var user = try await service.verifiedUser(Self.ada)
            for _ in 0..<2 { user = try await service.enrollPasskey(user.idToken).reply }
            try await service.enrollPasskey(user.idToken).reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            #expect(try await service.account(user.localID)?["passkeyInfo"]?.array?.count == 2)
            #expect(try await service.mails().count == 2)
        }
    }
}
