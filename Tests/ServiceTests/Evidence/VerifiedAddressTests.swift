import Domain
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("T-D12: an account with second factors keeps a verified address", .database, .testProvider, .serialized)
struct VerifiedAddressTests {
    private func run(
        _ body: @Sendable (TestService, _ app: AuthenticatorApp, _ user: Reply, _ localID: String) async throws -> Void
    ) async throws {
        try await MailScene.run {
            $0.offerApps()
            $0.keepLastSignInMethod = false
        } _: { service in
            let user = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            try await body(service, app, enrolled, try #require(user.localID))
            let account = try await service.account(user.localID)
            #expect(account?["emailVerified"] == true && account?["email"] == "ada@example.com")
            #expect(account?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("its user puts no unproved address in its place, nor takes it away")
    func refusesItsUser() async throws {
        try await run { service, _, user, _ in
            let unproved =
                "EMAIL_CHANGE_NEEDS_VERIFICATION : Verify the new email before changing it: the account has second factors."
            let token = JSON(user.idToken)
            try await service.call("accounts:update", ["idToken": token, "email": "eve@example.com"])
                .expectRefused(unproved)
            try await service.call(
                "accounts:signUp",
                ["idToken": token, "email": "eve@example.com", "password": "another horse"]
            )
            .expectRefused(unproved)
            try await service.call("accounts:update", ["idToken": token, "deleteAttribute": ["EMAIL"]])
                .expectRefused("UNVERIFIED_EMAIL : An account with second factors requires a verified email.")
        }
    }

    private static let refused = "UNVERIFIED_EMAIL : An account with second factors requires a verified email."
    private static let factor: JSON = ["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567"]

    @Test("without a verified address, no admin's request brings a factor")
    func refusesFactors() async throws {
        try await MailScene.run { service in
            for account: JSON in [[:], ["email": "ada@example.com"], ["emailVerified": true]] {
                try await service.admin("accounts", account.merging(["mfaInfo": [Self.factor]]))
                    .expectRefused(Self.refused)
                let made = try await service.admin("accounts", account)
                let added: JSON = ["localId": JSON(made.localID), "mfa": ["enrollments": [Self.factor]]]
                for change in [added, added.merging(["emailVerified": false])] {
                    try await service.admin("accounts:update", change).expectRefused(Self.refused)
                }
                #expect(try await service.account(made.localID)?["mfaInfo"] == nil)
                // Both may come together.
                let verified: JSON = ["email": .string("\(made.localID ?? "")@example.com"), "emailVerified": true]
                try await service.admin("accounts:update", added.merging(verified)).expectOK()
            }
        }
    }

    @Test("an account of an earlier release keeps its factors without one, loses single ones, and gets no more")
    func keepsOldFactors() async throws {
        try await MailScene.run { service in
            let second: JSON = ["mfaEnrollmentId": "phone-2", "phoneInfo": "+491701234568"]
            let made = try await service.admin(
                "accounts",
                ["email": "ada@example.com", "emailVerified": true, "mfaInfo": [Self.factor, second]]
            )
            try await TestDatabase.current.client.execute(
                "UPDATE accounts SET email_verified = false WHERE account = \(made.localID ?? "")"
            )
            func change(_ members: JSON) async throws -> Reply {
                try await service.admin("accounts:update", members.merging(["localId": JSON(made.localID)]))
            }
            try await change(["displayName": "Ada", "disableUser": false]).expectOK()
            let third: JSON = ["mfaEnrollmentId": "phone-3", "phoneInfo": "+491701234569"]
            try await change(["mfa": ["enrollments": [Self.factor, third]]]).expectRefused(Self.refused)
            let moved: JSON = ["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234569"]
            try await change(["mfa": ["enrollments": [moved]]]).expectRefused(Self.refused)
            try await change(["mfa": ["enrollments": [Self.factor]]]).expectOK()
            #expect(try await service.account(made.localID)?["mfaInfo"]?.array?.count == 1)
            let verified = try await change(["emailVerified": true])
            verified.expectOK()
            try await change(["emailVerified": false]).expectRefused(Self.refused)
        }
    }

    @Test("a sign-up brings no factor, nor does a user's password; only `identity dev` takes one, as the emulator does")
    func signsUp() async throws {
        let body: JSON = ["email": "ada@example.com", "password": "correct horse", "mfaInfo": [Self.factor]]
        try await TestService.run { service in
            try await service.call("accounts:signUp", body).expectRefused("INSUFFICIENT_PERMISSION")
            #expect(try await service.signUp("ada@example.com").status == 200, "nothing was written")
        }
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let user = try await service.call("accounts:signUp", body)
            #expect(user.idToken != nil, "\(user)")
            let factors = try await service.account(user.localID)?["mfaInfo"]?.array
            #expect(factors?.map { $0["phoneInfo"] } == ["+491701234567"])
            #expect(factors?[0]["mfaEnrollmentId"] != "phone-1", "no client chooses it")
            #expect(try await service.signInWithPassword("ada@example.com").idToken == nil)
            let guest = try await service.call("accounts:signUp")
            let more = body.merging(["email": "eve@example.com", "idToken": JSON(guest.idToken)])
            try await service.call("accounts:signUp", more).expectRefused("INSUFFICIENT_PERMISSION")
        }
    }

    @Test("an admin proves the new address, or takes the factors away with it")
    func refusesAdmins() async throws {
        try await run { service, _, _, localID in
            let bad: [JSON] = [
                ["email": "eve@example.com"], ["emailVerified": false], ["deleteAttribute": ["EMAIL"]],
                ["email": "eve@example.com", "password": "another horse"],
            ]
            for change in bad {
                try await service.admin("accounts:update", change.merging(["localId": .string(localID)]))
                    .expectRefused("UNVERIFIED_EMAIL : An account with second factors requires a verified email.")
            }
            for address in ["eve@example.com", "ada@example.com"] {
                let reply = try await service.admin(
                    "accounts:update",
                    ["localId": .string(localID), "email": .string(address), "emailVerified": true]
                )
                reply.expectOK()
            }
        }
        try await MailScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            _ = try await AuthenticatorApp.enroll(user.idToken, service)
            let reply = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "email": "eve@example.com", "mfa": ["enrollments": []]]
            )
            reply.expectOK()
        }
    }

    @Test("a new address that was proved by mail takes no factor away, and the next sign-in asks for it")
    func changesByMail() async throws {
        try await MailScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            let code = try await service.code(
                .verifyAndChangeEmail,
                ["idToken": JSON(enrolled.idToken), "newEmail": "ada@example.net"],
                to: "ada@example.net"
            )
            #expect(try await service.apply(code)["email"] == "ada@example.net")
            try await service.signInWithPassword("ada@example.net").expectChallenge(for: app.enrollment)
        }
    }
}
