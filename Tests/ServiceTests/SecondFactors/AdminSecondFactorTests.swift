import Projects
import TestKit
import Testing

@Suite("Second factors by admins", .database)
struct AdminSecondFactorTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.settings.offerApps()
        try await TestService.run(options, body)
    }

    private func set(_ service: TestService, _ localID: String?, _ enrollments: JSON) async throws -> Reply {
        try await service.admin(
            "accounts:update",
            ["localId": JSON(localID), "mfa": ["enrollments": enrollments]]
        )
    }

    @Test("an account is made with phones, which first factors show masked and admins whole")
    func creates() async throws {
        try await run { service in
            let made = try await service.admin(
                "accounts",
                [
                    "email": "ada@example.com", "emailVerified": true, "password": "correct horse",
                    "mfaInfo": [
                        ["displayName": "Mine", "phoneInfo": "+1 555-555-0101"], ["phoneInfo": "+491701234567"],
                    ],
                ]
            )
            let shown = try #require(try await service.account(made.localID)?["mfaInfo"]?.array, "\(made)")
            #expect(shown.map { $0["phoneInfo"] } == ["+15555550101", "+491701234567"])
            #expect(shown[0]["displayName"] == "Mine" && shown[0]["totpInfo"] == nil)
            let masked = try await service.signInWithPassword("ada@example.com")["mfaInfo"]?.array ?? []
            #expect(masked.map { $0["phoneInfo"] } == ["+*******0101", "+********4567"])
            let bad = try await service.admin("accounts", ["mfaInfo": [["phoneInfo": "12"]]])
            bad.expectRefused("INVALID_MFA_PHONE_NUMBER : Invalid format.")
        }
    }

    @Test("the list that is sent replaces the one there is; an app stays only by its id")
    func replaces() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let id = JSON.string(app.enrollment)
            let phone: JSON = [
                "mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567", "enrolledAt": "2026-01-02T03:04:05.678Z",
            ]
            #expect(
                try await set(service, user.localID, [phone, ["mfaEnrollmentId": id, "totpInfo": [:]]]).status == 200
            )
            let shown = try await service.account(user.localID)?["mfaInfo"]
            #expect(
                shown?[0]?["enrolledAt"] == "2026-01-02T03:04:05.678Z" && shown?[1]?["totpInfo"] == [:],
                "\(shown?.text ?? "")"
            )
            // The app's secret went along.
            service.clock.advance(by: 30)
            let reply = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            reply.expectSecondFactor(app.enrollment, provider: "password", of: user.localID)
            try await set(service, user.localID, [phone]).expectOK()
            #expect(try await service.account(user.localID)?["mfaInfo"]?.array?.count == 1)
            let cleared = try await service.admin("accounts:update", ["localId": JSON(user.localID), "mfa": [:]])
            cleared.expectOK()
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
        }
    }

    @Test("says what is wrong, and changes nothing; clients may not touch the list")
    func refuses() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let phones = (0..<6).map { JSON.object(["phoneInfo": .string("+49170000000\($0)")]) }
            try await set(service, user.localID, .array(phones)).expectRefused(
                "SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account."
            )
            try await set(service, user.localID, [["totpInfo": [:]]]).expectRefused(
                "UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment"
            )
            try await set(service, user.localID, [["phoneInfo": "12"]])
                .expectRefused("INVALID_PHONE_NUMBER : Invalid format.")
            let twice: JSON = [
                ["mfaEnrollmentId": "a", "phoneInfo": "+491701234567"],
                ["mfaEnrollmentId": "a", "phoneInfo": "+491701234568"],
            ]
            try await set(service, user.localID, twice).expectRefused("DUPLICATE_MFA_ENROLLMENT_ID")
            for id in ["a/b", "é", String(repeating: "a", count: 129)] {
                try await set(service, user.localID, [["mfaEnrollmentId": .string(id), "phoneInfo": "+491701234567"]])
                    .expectRefused("INVALID_MFA_ENROLLMENT_ID")
            }
            let date: JSON = [["phoneInfo": "+491701234567", "enrolledAt": "yesterday"]]
            #expect(try await set(service, user.localID, date).status == 400)
            try await service.call("accounts:update", ["idToken": JSON(user.idToken), "mfa": ["enrollments": []]])
                .expectRefused("INSUFFICIENT_PERMISSION")
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
            // A number that comes twice counts once.
            let same: JSON = [["phoneInfo": "+491701234567"], ["phoneInfo": "+49 170 1234567"]]
            try await set(service, user.localID, same).expectOK()
            #expect(try await service.account(user.localID)?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("the project's config says which second factors there are")
    func configures() async throws {
        try await TestService.run { service in
            func patch(_ mfa: JSON) async throws -> Reply {
                try await service.admin("config?updateMask=mfa", ["mfa": mfa], method: "PATCH", version: "v2")
            }
            let before = try await service.admin("config", version: "v2")["mfa"]
            #expect(before == nil, "nobody set them")
            let after = try await patch([
                "state": "ENABLED", "enabledProviders": ["PHONE_SMS"],
                "providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 2]]],
            ])
            #expect(
                after["mfa"]?["state"] == "ENABLED" && after["mfa"]?["enabledProviders"] == ["PHONE_SMS"],
                "\(after)"
            )
            #expect(after["mfa"]?["providerConfigs"]?[0]?["totpProviderConfig"]?["adjacentIntervals"] == 2)
            for wrong: JSON in [
                ["state": "MANDATORY"], ["state": "ON"],
                ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 11]]]],
                ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": -1]]]],
                ["enabledProviders": ["EMAIL"]], ["providerConfigs": "x"],
            ] { #expect(try await patch(wrong).status == 400) }
            #expect(try await service.admin("config", version: "v2")["mfa"] == after["mfa"])
        }
    }
}
