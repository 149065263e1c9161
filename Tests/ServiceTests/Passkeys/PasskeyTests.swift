import Foundation
import Projects
import Secrets
import TestKit
import Testing

@Suite("Passkeys", .database)
struct PasskeyTests {
    @Test("a passkey is enrolled, signs in without a name, is listed and is removed")
    func wholeLife() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 60)
            let (passkey, enrolled) = try await service.enrollPasskey(user.idToken)
            #expect(enrolled.status == 200 && enrolled.localID == user.localID, "\(enrolled)")
            #expect(enrolled["expiresIn"] == "3600" && enrolled.refreshToken != nil)
            #expect(enrolled.claims["firebase"]?["sign_in_provider"] == "passkey")
            #expect(enrolled.claims["auth_time"] == user.claims["auth_time"], "an enrollment is no sign-in")
            let signedIn = try await service.signIn(with: passkey)
            #expect(signedIn.status == 200 && signedIn.localID == user.localID, "\(signedIn)")
            let firebase = signedIn.claims["firebase"]
            #expect(firebase?["sign_in_provider"] == "passkey")
            #expect(firebase?["sign_in_second_factor"] == "passkey", "its authenticator verified the user")
            #expect(signedIn.claims["auth_time"] != user.claims["auth_time"])
            try await service.refresh(signedIn.refreshToken).expectOK()
            let id = JSON.string(PasskeyScene.base64(passkey.id))
            let shown = try await service.lookUp(signedIn.idToken)["users"]?[0]
            #expect(shown?["passkeyInfo"] == [["credentialId": id]], "\(shown?.text ?? "")")
            let removed = try await service.call(
                "accounts:update",
                ["idToken": JSON(signedIn.idToken), "deletePasskey": [id]]
            )
            #expect(removed.status == 200 && removed.refreshToken != nil, "\(removed)")
            #expect(removed.claims["firebase"]?["sign_in_second_factor"] == nil)
            #expect(try await service.account(user.localID)?["passkeyInfo"] == nil)
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
        }
    }

    @Test("the options have what browsers and iOS read, and no email in the user's handle")
    func options() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let reply = try await service.startEnrollingPasskey(user.idToken)
            let options = try #require(reply["credentialCreationOptions"], "\(reply)")
            #expect(options["rp"] == ["id": "example.com", "name": .string(service.project.id.rawValue)])
            #expect(options["user"]?["name"] == "ada@example.com")
            #expect(try PasskeyScene.bytes(options["user"]?["id"]) == passkey.userHandle)
            #expect(passkey.userHandle?.count == 32)
            #expect(try PasskeyScene.bytes(options["challenge"]).count == 32)
            #expect(options["pubKeyCredParams"]?.array?.map { $0["alg"] } == [-7, -8, -257])
            #expect(options["timeout"] == 300_000)
            #expect(options["authenticatorSelection"]?["residentKey"] == "required")
            #expect(options["excludeCredentials"]?[0]?["id"] == .string(PasskeyScene.base64(passkey.id)))
        }
    }

    @Test("a project that requires an attestation asks for it, and accepts no passkey without one")
    func attestation() async throws {
        for demand in PasskeySettings.Attestation.allCases {
            try await PasskeyScene.run({ $0.passkeys.attestation = demand }) { service in
                let user = try await service.signUp("ada@example.com")
                let options = try await service.startEnrollingPasskey(user.idToken)["credentialCreationOptions"]
                #expect(options?["attestation"] == (demand == .none ? "none" : "direct"))
                let (_, enrolled) = try await service.enrollPasskey(user.idToken)
                guard demand == .required else { return #expect(enrolled.status == 200, "\(enrolled)") }
                enrolled.expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
                #expect(try await service.account(user.localID)?["passkeyInfo"] == nil)
            }
        }
    }

    @Test("roots are certificates, and nothing else")
    func roots() async throws {
        try await PasskeyScene.run { service in
            func set(_ root: String) async throws -> Reply {
                let config: JSON = ["attestation": "required", "attestationRoots": [.string(root)]]
                return try await service.admin("passkeyConfig", config, method: "PATCH", version: "v2")
            }
            let reply = try await set(Self.certificate)
            #expect(reply.status == 200 && reply["attestationRoots"] == [.string(Self.certificate)], "\(reply)")
            for text in [
                "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", Self.certificate + Self.certificate,
            ] {
                #expect(try await set(text).status == 400, "\(text)")
            }
        }
    }

    /// The key of this certificate was thrown away.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdjCCARugAwIBAgIUOxqRh8ZnVT/Qs+gw0rZ/ldbdNcgwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEYWNtZTAgFw0yNjExMjMwNTE3MzFaGA8yMTI2MTAzMDA1MTcz
        MVowDzENMAsGA1UEAwwEYWNtZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBI6
        As/Zx9kE6lqvAslWLY0G2jQdc0Y9rbUYikmdRXRjTGFejT/2xqk3MJ/Edzef0sqJ
        umSoT6CRz2bCM5sOJAujUzBRMB0GA1UdDgQWBBTFM8dJ2X5tfnlVxDzml6U1IbPu
        LTAfBgNVHSMEGDAWgBTFM8dJ2X5tfnlVxDzml6U1IbPuLTAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDsvqS7JSTulWDBwJBYslg8ucFAF0NrduPT
        way50oVeoQIhALrSkM3f8yd7pkAnjn1fppRGxq3IPeGhVJFatqdIjQgA
        -----END CERTIFICATE-----

        """

    @Test("a passkey survives an export and an import")
    func exportAndImport() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            var (passkey, _) = try await service.enrollPasskey(user.idToken) { $0.signCount = 5 }
            let exported = try await service.admin("accounts:batchGet")["users"]?[0]
            #expect(exported?["passkeyInfo"]?[0]?["signCount"] == 5, "\(exported?.text ?? "")")
            _ = try await service.admin("accounts:delete", ["localId": JSON(user.localID)])
            let body: JSON = ["users": [["localId": "moved", "passkeyInfo": exported?["passkeyInfo"] ?? .null]]]
            let imported = try await service.admin("accounts:batchCreate", body)
            #expect(imported.status == 200 && imported["error"] == nil, "\(imported)")
            passkey.signCount = 6
            let signedIn = try await service.signIn(with: passkey)
            #expect(signedIn.localID == "moved", "\(signedIn)")
            // The counter came along.
            passkey.signCount = 5
            try await service.signIn(with: passkey).expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
            let again: JSON = ["users": [["localId": "other", "passkeyInfo": exported?["passkeyInfo"] ?? .null]]]
            let refused = try await service.admin("accounts:batchCreate", again)
            #expect(refused["error"]?[0]?["message"] == "passkey exists in other account in database", "\(refused)")
        }
    }

    @Test("both alphabets of base64 name the same passkey", arguments: [true, false])
    func alphabets(isWebSafe: Bool) async throws {
        try await PasskeyScene.run { service in
            func write(_ bytes: [UInt8]) -> String {
                isWebSafe ? Base64URL.encode(bytes) : PasskeyScene.base64(bytes)
            }
            let user = try await service.signUp("ada@example.com")
            let started = try await service.startEnrollingPasskey(user.idToken)["credentialCreationOptions"]
            var passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(started?["user"]?["id"]))
            // Both characters that the alphabets write differently, and padding.
            passkey.id = Array(repeating: [0xfb, 0xff], count: 16).flatMap(\.self)
            let challenge = try PasskeyScene.bytes(started?["challenge"])
            let enrolled = try await service.finishEnrollingPasskey(
                user.idToken,
                passkey.registration(for: challenge, write)
            )
            enrolled.expectOK()
            let other = try await service.signIn(with: passkey)
            #expect(other.localID == user.localID, "\(other)")
            let same = try await service.finishPasskeySignIn(
                passkey.assertion(for: try await service.passkeyChallenge(), write)
            )
            #expect(same.localID == user.localID, "\(same)")
        }
    }

    @Test("one credential belongs to one account, and an account has at most ten")
    func limits() async throws {
        try await PasskeyScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let bob = try await service.signUp("bob@example.com")
            let (passkey, _) = try await service.enrollPasskey(ada.idToken)
            for user in [ada, bob] {
                let again = try await service.enrollPasskey(user.idToken) { $0.id = passkey.id }
                again.reply.expectRefused("PASSKEY_EXISTS")
            }
            #expect(try await service.signIn(with: passkey).localID == ada.localID)
            for _ in 1..<10 { #expect(try await service.enrollPasskey(ada.idToken).reply.status == 200) }
            try await service.startEnrollingPasskey(ada.idToken).expectRefused("PASSKEY_LIMIT_EXCEEDED")
        }
    }

    @Test("the limit counts what was enrolled since the start")
    func limitAtTheEnd() async throws {
        try await PasskeyScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let options = try await service.startEnrollingPasskey(ada.idToken)["credentialCreationOptions"]
            for _ in 0..<10 { #expect(try await service.enrollPasskey(ada.idToken).reply.status == 200) }
            let late = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(options?["user"]?["id"]))
            let registration = late.registration(for: try PasskeyScene.bytes(options?["challenge"]))
            try await service.finishEnrollingPasskey(ada.idToken, registration)
                .expectRefused("PASSKEY_LIMIT_EXCEEDED")
        }
    }

    @Test("a guest's passkey makes it an account whose last sign-in method stays")
    func lastMethod() async throws {
        try await PasskeyScene.run { service in
            let guest = try await service.call("accounts:signUp")
            service.clock.advance(by: 86_400)
            let refreshed = try await service.refresh(guest.refreshToken)
            let (passkey, enrolled) = try await service.enrollPasskey(refreshed.idToken)
            #expect(enrolled.localID == guest.localID, "\(enrolled)")
            let signedIn = try await service.signIn(with: passkey)
            for removal in [
                ["deletePasskey": [.string(PasskeyScene.base64(passkey.id))]], ["deleteProvider": ["passkey"]],
            ] as [JSON] {
                let reply = try await service.call(
                    "accounts:update",
                    removal.merging(["idToken": JSON(signedIn.idToken)])
                )
                reply.expectRefused("OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed.")
            }
            let byAdmin: JSON = ["localId": JSON(guest.localID), "deleteProvider": ["passkey"]]
            try await service.admin("accounts:update", byAdmin).expectOK()
            #expect(try await service.account(guest.localID)?["passkeyInfo"] == nil)
        }
    }

    @Test("admins see passkeys by method, and remove one")
    func admins() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (lost, _) = try await service.enrollPasskey(user.idToken)
            let (kept, _) = try await service.enrollPasskey(user.idToken)
            let stats = try await service.admin("providers:stats")
            let row = stats["providers"]?.array?.first { $0["providerId"] == "passkey" }
            #expect(row != nil, "\(stats)")
            let removal: JSON = [
                "localId": JSON(user.localID), "deletePasskey": [.string(PasskeyScene.base64(lost.id))],
            ]
            try await service.admin("accounts:update", removal).expectOK()
            try await service.signIn(with: lost).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            #expect(try await service.signIn(with: kept).localID == user.localID)
        }
    }

    @Test("a deleted account's passkey is free again, and signs in to nothing")
    func deleted() async throws {
        try await PasskeyScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(ada.idToken)
            try await service.call("accounts:delete", ["idToken": JSON(ada.idToken)]).expectOK()
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            let bob = try await service.signUp("bob@example.com")
            let (own, reply) = try await service.enrollPasskey(bob.idToken) { $0.id = passkey.id }
            reply.expectOK()
            #expect(try await service.signIn(with: own).localID == bob.localID)
        }
    }

    @Test("an import that replaces an account frees its passkeys")
    func replaced() async throws {
        try await PasskeyScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(ada.idToken)
            let reply = try await service.admin(
                "accounts:batchCreate",
                ["allowOverwrite": true, "users": [["localId": JSON(ada.localID), "email": "ada@example.com"]]]
            )
            #expect(reply.status == 200 && reply["error"] == nil, "\(reply)")
            try await service.signIn(with: passkey).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            let bob = try await service.signUp("bob@example.com")
            try await service.enrollPasskey(bob.idToken) { $0.id = passkey.id }.reply.expectOK()
        }
    }
}
