import Foundation
import Postgres
import Projects
import Secrets
import SystemCrypto
import TestKit
import Testing

/// One password, typed on devices that write the same letters with different characters (Unicode TR 15).
@Suite("Forms of one password", .database)
struct PasswordFormTests {
    private static let passwords = ["pässwörd1", "mật khẩu 1", "비밀번호123", "Å-ngström"]

    @Test("is right in every form, whichever it was set in, by sign-up, change, reset and import", arguments: passwords)
    func forms(_ password: String) async throws {
        let composed = password.precomposedStringWithCanonicalMapping
        let decomposed = password.decomposedStringWithCanonicalMapping
        #expect(!composed.utf8.elementsEqual(decomposed.utf8))
        try await TestService.run { service in
            for (number, form) in [composed, decomposed].enumerated() {
                let email = "ada\(number)@example.com"
                let user = try await service.signUp(email, form)
                try await expectBoth(email, password, service)
                let changed = try await service.call(
                    "accounts:update",
                    ["idToken": JSON(user.idToken), "password": .string("x" + form), "returnSecureToken": true]
                )
                changed.expectOK()
                try await expectBoth(email, "x" + password, service)
                let uploaded = try await service.admin(
                    "accounts:batchCreate",
                    [
                        "users": [
                            [
                                "localId": .string("i\(number)"), "email": .string("i\(email)"),
                                "rawPassword": .string(form),
                            ]
                        ]
                    ]
                )
                #expect(uploaded["error"] == nil, "\(uploaded)")
                try await expectBoth("i" + email, password, service)
            }
        }
    }

    private func expectBoth(_ email: String, _ password: String, _ service: TestService) async throws {
        for form in [password.precomposedStringWithCanonicalMapping, password.decomposedStringWithCanonicalMapping] {
            let reply = try await service.signInWithPassword(email, form)
            #expect(reply.status == 200, "\(form.utf8.count): \(reply)")
        }
        let wrong = try await service.signInWithPassword(email, password + "x")
        #expect(wrong.error == "INVALID_LOGIN_CREDENTIALS", "\(wrong)")
    }

    @Test(
        "hashes of other forms go on working, and become that of the composed form at the first sign-in",
        arguments: [true, false]
    )
    func imported(typesComposed: Bool) async throws {
        let password = Self.passwords[0]
        let (composed, decomposed) = (
            password.precomposedStringWithCanonicalMapping, password.decomposedStringWithCanonicalMapping
        )
        let hashes = Counter()
        var options = TestService.Options()
        options.beforeHash = { hashes.increment() }
        try await TestService.run(options) { service in
            let upload: JSON = [
                "hashAlgorithm": "SHA256", "rounds": 1,
                "users": [
                    [
                        "localId": "ada", "email": "ada@example.com",
                        "passwordHash": .string(Data(SecureHash.sha256(Array(decomposed.utf8))).base64EncodedString()),
                    ]
                ],
            ]
            let uploaded = try await service.admin("accounts:batchCreate", upload)
            #expect(uploaded["error"] == nil, "\(uploaded)")
            let reply = try await service.signInWithPassword("ada@example.com", typesComposed ? composed : decomposed)
            reply.expectOK()
            // Of one form now: the first comparison finds it.
            for form in [composed, decomposed] {
                let before = hashes.value
                try await service.signInWithPassword("ada@example.com", form).expectOK()
                #expect(hashes.value == before + 1)
            }
        }
    }

    @Test("T-E1: a wrong password costs one hash, or two if it has two forms, with and without an account")
    func costs() async throws {
        let hashes = Counter()
        var options = TestService.Options()
        options.beforeHash = { hashes.increment() }
        try await TestService.run(options) { service in
            _ = try await service.signUp("ada@example.com")
            _ = try await service.admin("accounts", ["email": "eda@example.com"])
            for (password, count) in [
                ("wrong horse", 1), ("wr\u{f6}ng", 2), ("wro\u{308}ng", 2), ("東京タワー", 1), ("wrong 🐎", 1),
                (String(repeating: "ö", count: 5_000), 1),
            ] {
                for email in ["ada@example.com", "eda@example.com", "nobody@example.com"] {
                    let before = hashes.value
                    let reply = try await service.signInWithPassword(email, password)
                    #expect(reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
                    #expect(hashes.value == before + count, "\(password.prefix(20)) of \(email)")
                }
            }
        }
    }

    @Test("a guess in two forms is one guess")
    func limits() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com")
            for _ in 0..<10 {
                try await service.signIn("ada@example.com", "wr\u{f6}ng!", from: "198.18.1.1")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            try await service.signIn("ada@example.com", "wr\u{f6}ng!", from: "198.18.1.1")
                .expectRefused(LimitScene.locked)
        }
    }

    @Test("the rules for passwords count what is stored")
    func rules() async throws {
        var options = TestService.Options()
        options.settings.passwordPolicy.isEnforced = true
        options.settings.passwordPolicy.needsLowercase = true
        try await TestService.run(options) { service in
            // Its only letter of a to z belongs to an ä.
            let reply = try await service.signUp("ada@example.com", "PA\u{308}SSa\u{308}12")
            #expect(reply.code == "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "\(reply)")
            let long = try await service.signUp("ada@example.com", "e" + String(repeating: "\u{301}", count: 4_097))
            #expect(long.code == "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "\(long)")
        }
    }
}
