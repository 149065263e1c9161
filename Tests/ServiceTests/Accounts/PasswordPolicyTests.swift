import Projects
import Storage
import TestKit
import Testing

/// What a project asks of new passwords.
@Suite("Password policy", .database)
struct PasswordPolicyTests {
    private static let strict: JSON = [
        "passwordPolicyConfig": [
            "passwordPolicyEnforcementState": "ENFORCE",
            "passwordPolicyVersions": [
                [
                    "customStrengthOptions": [
                        "minPasswordLength": 8, "maxPasswordLength": 20, "containsLowercaseCharacter": true,
                        "containsUppercaseCharacter": true, "containsNumericCharacter": true,
                        "containsNonAlphanumericCharacter": true,
                    ]
                ]
            ],
        ]
    ]

    private func configure(
        _ service: TestService,
        _ config: JSON,
        mask: String = "passwordPolicyConfig"
    ) async throws -> Reply {
        try await service.admin("config?updateMask=\(mask)", config, method: "PATCH", version: "v2")
    }

    @Test("apps read it, and new passwords meet it or are told all that they lack, at sign-up, change and link")
    func enforced() async throws {
        try await TestService.run { service in
            let old = try await service.signUp("old@example.com", "password")
            try await configure(service, Self.strict).expectOK()
            let policy = try await service.send("GET", "/v2/passwordPolicy?key=\(service.apiKey)")
            #expect(policy["enforcementState"] == "ENFORCE" && policy["schemaVersion"] == 1, "\(policy)")
            #expect(policy["customStrengthOptions"]?["minPasswordLength"] == 8)
            #expect(policy["customStrengthOptions"]?["containsNumericCharacter"] == true)
            #expect(policy["allowedNonAlphanumericCharacters"]?.array?.contains("!") == true)
            let guest = try await service.call("accounts:signUp")
            let rows: [(password: String, lacks: [String])] = [
                ("Sh0rt!", ["at least 8 characters"]),
                ("Far_too_l0ng_for_this_policy", ["at most 20 characters"]),
                ("UPPER_CASE_1", ["a lower case character"]),
                ("lower_case_1", ["an upper case character"]),
                ("No_Digit_Here", ["a numeric character"]),
                ("NoSymbol1", ["a non-alphanumeric character"]),
                ("ümlaut_A_1", []),
                ("ÜÄÖ_ÜÄÖ_٣", ["a lower case character", "an upper case character", "a numeric character"]),
                ("passwords", ["an upper case character", "a numeric character", "a non-alphanumeric character"]),
                ("G00d_enough", []),
            ]
            for (number, row) in rows.enumerated() {
                let password = JSON.string(row.password)
                let replies = [
                    try await service.signUp("new\(number)@example.com", row.password),
                    try await service.call("accounts:update", ["idToken": JSON(old.idToken), "password": password]),
                    try await service.call(
                        "accounts:signUp",
                        ["idToken": JSON(guest.idToken), "email": "guest\(number)@example.com", "password": password]
                    ),
                ]
                guard !row.lacks.isEmpty else {
                    #expect(replies[0].status == 200, "\(row): \(replies[0])")
                    continue
                }
                let texts = row.lacks.map { "Password must contain \($0)" }.joined(separator: ", ")
                let error = "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [\(texts)]"
                for reply in replies { #expect(reply.status == 400 && reply.error == error, "\(row): \(reply)") }
            }
            // Too short for anybody is still what every SDK knows.
            #expect(try await service.signUp("weak@example.com", "weak").code == "WEAK_PASSWORD")
            // An admin sets what an admin likes.
            let byAdmin = try await service.admin("accounts", ["email": "a@example.com", "password": "as-it-was"])
            byAdmin.expectOK()
            let changed = try await service.admin(
                "accounts:update",
                ["localId": JSON(byAdmin.localID), "password": "as-it-is"]
            )
            changed.expectOK()
        }
    }

    @Test("a reset by mail asks for a new password that meets it, and the code stays good until one does")
    func reset() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            try await configure(service, Self.strict).expectOK()
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            #expect(try await service.reset(code, to: "weak").code == "WEAK_PASSWORD")
            try await service.reset(code, to: "NoSymbol1").expectRefused(
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: "
                    + "[Password must contain a non-alphanumeric character]"
            )
            try await service.signInWithPassword("ada@example.com").expectOK()
            try await service.reset(code, to: "G00d_enough").expectOK()
            try await service.signInWithPassword("ada@example.com", "G00d_enough").expectOK()
        }
    }

    @Test("a user with an old password signs in with it, unless the policy requires an upgrade")
    func upgrade() async throws {
        try await TestService.run { service in
            _ = try await service.signUp("old@example.com", "password")
            try await configure(service, Self.strict).expectOK()
            try await service.signInWithPassword("old@example.com", "password").expectOK()
            let upgrade: JSON = ["passwordPolicyConfig": ["forceUpgradeOnSignin": true]]
            let mask = "passwordPolicyConfig.forceUpgradeOnSignin"
            try await configure(service, upgrade, mask: mask).expectOK()
            let refused = try await service.signInWithPassword("old@example.com", "password")
            #expect(refused.code == "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "\(refused)")
            // Nobody else learns of it.
            #expect(
                try await service.signInWithPassword("old@example.com", "passwords").code == "INVALID_LOGIN_CREDENTIALS"
            )
            let off: JSON = ["passwordPolicyConfig": ["passwordPolicyEnforcementState": "OFF"]]
            let state = "passwordPolicyConfig.passwordPolicyEnforcementState"
            try await configure(service, off, mask: state).expectOK()
            try await service.signInWithPassword("old@example.com", "password").expectOK()
        }
    }

    @Test("a policy that no password could meet, or one that Firebase does not have, is refused and changes nothing")
    func badPolicies() async throws {
        try await TestService.run { service in
            let versions: [JSON] = [
                [["customStrengthOptions": ["minPasswordLength": 5]]],
                [["customStrengthOptions": ["minPasswordLength": 31]]],
                [["customStrengthOptions": ["minPasswordLength": 20, "maxPasswordLength": 19]]],
                [["customStrengthOptions": ["maxPasswordLength": 4097]]],
                [["customStrengthOptions": ["minPasswordLength": "eight"]]],
                [["customStrengthOptions": ["containsNumericCharacter": "yes"]]],
                [[:], [:]],
                "none",
            ]
            for value in versions {
                let reply = try await configure(
                    service,
                    ["passwordPolicyConfig": ["passwordPolicyVersions": value]],
                    mask: "passwordPolicyConfig.passwordPolicyVersions"
                )
                #expect(reply.status == 400, "\(value): \(reply)")
            }
            let wrong: JSON = ["passwordPolicyConfig": ["passwordPolicyEnforcementState": "SOMETIMES"]]
            #expect(try await configure(service, wrong).status == 400)
            let policy = try await service.send("GET", "/v2/passwordPolicy?key=\(service.apiKey)")
            #expect(policy["enforcementState"] == "OFF")
            #expect(policy["customStrengthOptions"]?["minPasswordLength"] == 6)
            #expect(policy["customStrengthOptions"]?["maxPasswordLength"] == 4096)
            let captcha = try await service.send("GET", "/v2/recaptchaConfig?key=\(service.apiKey)&clientType=1")
            captcha.expectOK()
        }
    }
}
