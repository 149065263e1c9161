import Projects
import TestKit
import Testing

@Suite("Bad input of passkeys", .database)
struct PasskeyInputTests {
    @Test("a response that is no response has its documented error, and changes nothing")
    func responses() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let whole = passkey.assertion(for: try await service.passkeyChallenge())
            func changed(_ name: String, to value: JSON) -> JSON {
                whole.merging(["response": (whole["response"] ?? [:]).merging([name: value])])
            }
            let huge = JSON.string(String(repeating: "A", count: 90_000))
            let cases: [(JSON, String)] = [
                (nil, "MISSING_AUTHENTICATOR_RESPONSE"), ([:], "INVALID_CREDENTIAL_ID"),
                (whole.merging(["id": "", "rawId": ""]), "INVALID_CREDENTIAL_ID"),
                (whole.merging(["rawId": "AAAA"]), "INVALID_CREDENTIAL_ID"),
                (whole.merging(["type": "password"]), "INVALID_AUTHENTICATOR_RESPONSE"),
                (whole.merging(["response": [:]]), "INVALID_AUTHENTICATOR_RESPONSE"),
                (changed("clientDataJSON", to: "e30="), "INVALID_AUTHENTICATOR_RESPONSE"),
                (changed("clientDataJSON", to: huge), "INVALID_AUTHENTICATOR_RESPONSE"),
                (changed("signature", to: nil), "INVALID_AUTHENTICATOR_RESPONSE"),
                (changed("authenticatorData", to: nil), "INVALID_AUTHENTICATOR_RESPONSE"),
            ]
            for (assertion, error) in cases {
                let reply = try await service.finishPasskeySignIn(assertion)
                #expect(reply.status == 400 && reply.error == error, "\(assertion.text.prefix(300)): \(reply)")
            }
            for value in [7, ["a"], "not base64!"] as [JSON] {
                let reply = try await service.finishPasskeySignIn(changed("signature", to: value))
                #expect(reply.status == 400 && reply.json["error"]?["status"] == "INVALID_ARGUMENT", "\(reply)")
            }
            // None of them used the challenge up, as none was complete.
            try await service.finishPasskeySignIn(whole).expectOK()
        }
    }

    @Test("what an authenticator says is refused at any length but its own")
    func truncated() async throws {
        try await PasskeyScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let sent = passkey.use(for: try await service.passkeyChallenge()).authenticatorData
            for length in [0, 1, 36] {
                let assertion = passkey.assertion(for: try await service.passkeyChallenge())
                let data = JSON.string(PasskeyScene.base64(Array(sent.prefix(length))))
                let response = (assertion["response"] ?? [:]).merging(["authenticatorData": data])
                try await service.finishPasskeySignIn(assertion.merging(["response": response]))
                    .expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
            }
        }
    }

    @Test("passkeyConfig is a resource of a project and of a tenant, with rules")
    func configuration() async throws {
        try await TestService.run(
            {
                var options = TestService.Options()
                options.settings.allowsTenants = true
                return options
            }()
        ) { service in
            let tenant = try await service.makeTenant("first")
            for parent in ["", "tenants/\(tenant)/"] {
                let path = "\(parent)passkeyConfig"
                let set = try await service.admin(path, PasskeyScene.config, method: "PATCH", version: "v2")
                set.expectOK()
                let shown = try await service.admin(path, version: "v2")
                #expect(shown["rpId"] == "example.com" && shown["expectedOrigins"] == ["https://example.com"])
                #expect(shown["name"] == .string("projects/\(service.project.id)/\(parent)passkeyConfig"))
                #expect(shown["userVerification"] == "preferred" && shown["refuseClonedCredentials"] == true)
                for wrong in [
                    ["rpId": "https://example.com"], ["rpId": "Example.com"], ["rpId": "127.0.0.1"], ["rpId": "a..b"],
                    ["expectedOrigins": ["http://example.com"]], ["expectedOrigins": ["https://example.com/"]],
                    ["expectedOrigins": ["https://*.example.com"]], ["userVerification": "sometimes"],
                ] as [JSON] {
                    let name = wrong.object?.keys.first ?? ""
                    let reply = try await service.admin(
                        "\(path)?updateMask=\(name)",
                        wrong,
                        method: "PATCH",
                        version: "v2"
                    )
                    #expect(reply.status == 400, "\(wrong.text): \(reply)")
                }
                #expect(try await service.admin(path, version: "v2").json == shown.json)
            }
        }
    }
}
