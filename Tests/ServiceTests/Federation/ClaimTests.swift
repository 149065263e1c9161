import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Claims of ID tokens", .database, .testProvider)
struct ClaimTests {
    // MARK: Hashes

    @Test("T-C9: a hash that belongs to another access token or code is refused")
    func hashes() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let other = Base64URL.encode(SecureHash.sha256("another").prefix(16))
            for (name, value) in [
                ("at_hash", .string(other)), ("c_hash", .string(other)), ("at_hash", ""), ("at_hash", 1),
                ("c_hash", 1),
            ] as [(String, JSONValue)] {
                var login = ScriptedLogin(scene.ada)
                login.idToken.set = [name: value]
                scene.tenant.nextLogin(login)
                let arrival = try await scene.arrive()
                try await scene.refuses(Messages.badHash) { try await scene.finish(arrival) }
            }
            // Handed in by the app: both tokens of one answer, and a foreign one that rides along.
            let access = scene.tenant.mintAccessToken(for: scene.ada)
            let foreign = scene.tenant.mintAccessToken(for: scene.addGrace())
            let token = try scene.tenant.mintIDToken(for: scene.ada, accessToken: access)
            scene.secrets.add(access, foreign, token)
            func post(_ access: String) async throws -> Reply {
                try await scene.service.signInWithIdP(
                    postBody: FormFields(
                        pairs: [("id_token", token), ("access_token", access), ("providerId", "oidc.acme")]
                    ).text
                )
            }
            try await scene.refuses(Messages.badHash) { try await post(foreign) }
            try await post(access).expectOK()
        }
    }

    // MARK: Odd JSON

    @Test(
        "T-C11: a subject is one text of 1 to 255 bytes",
        arguments: [
            "null", "1", "true", #""""#, "[]", "{}", #"["a"]"#, #""a\u0000""#,
            "\"\(String(repeating: "s", count: 256))\"",
        ]
    )
    func subjects(_ subject: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["sub": .raw(subject)])
            )
            let reply = try await scene.refuses(nil) { try await scene.signIn(idToken: token) }
            #expect(
                reply.error?.hasPrefix(
                    "INVALID_IDP_RESPONSE : ID Token does not contain user's identity in 'sub' claim: {"
                ) == true
                    || (subject.contains("u0000") && reply.error == Messages.unparsable),
                "\(reply)"
            )
        }
    }

    @Test(
        "T-C11: odd JSON and odd base64 are no token",
        arguments: [
            #"{"sub":"a","sub":"b"}"#, #"{"sub":"a","s\u0075b":"b"}"#, #"{"sub":"a"} {}"#, "[]", #""text""#, "",
            #"{"sub":"a",}"#,
            #"{'sub':'a'}"#, "{\"sub\":\"\u{1}\"}", #"{"sub":"\ud800"}"#,
        ]
    )
    func oddPayload(_ payload: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(for: scene.ada, changes: IDTokenChanges(payload: payload))
            try await scene.refuses(Messages.unparsable) { try await scene.signIn(idToken: token) }
        }
    }

    @Test("T-C11: odd addresses and flags in a good token count as absent")
    func oddClaims() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let odd: [(JSONValue, JSONValue)] = [
                ("", true), (1, true), (["a@example.com"], true), ("a@example.com,b@example.com", true),
                ("a@b@example.com", true), (" a@example.com", true), (.null, true), ([:], true),
                ("a\u{0}@example.com", true),
            ]
            for (index, (email, verified)) in odd.enumerated() {
                let token = try scene.tenant.mintIDToken(
                    for: scene.ada,
                    changes: IDTokenChanges(
                        set: ["sub": .string("odd-\(index)"), "email": email, "email_verified": verified]
                    )
                )
                let reply = try await scene.signIn(idToken: token)
                guard reply.error != Messages.unparsable else { continue }  // NUL is refused earlier
                #expect(reply.status == 200, "\(email): \(reply)")
                #expect(reply["email"] == nil, "\(email)")
                #expect(reply["emailVerified"] == false)
            }
            for (index, flag) in (["true", 1, "1", [true], .null] as [JSONValue]).enumerated() {
                let token = try scene.tenant.mintIDToken(
                    for: scene.ada,
                    changes: IDTokenChanges(
                        set: [
                            "sub": .string("flag-\(index)"), "email": .string("Flag\(index)@EXAMPLE.com"),
                            "email_verified": flag,
                        ]
                    )
                )
                let reply = try await scene.signIn(idToken: token)
                #expect(reply["email"] == .string("flag\(index)@example.com"), "\(reply)")
                #expect(reply["emailVerified"] == false, "\(flag.jsonText)")
            }
        }
    }

    @Test("claims that are named like ours never get into our tokens")
    func claimInjection() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(
                    set: [
                        "firebase": ["sign_in_provider": "custom"], "admin": true, "__proto__": ["admin": true],
                        "user_id": "eve", "auth_time": 1,
                        "deep": .raw(String(repeating: "[", count: 20) + String(repeating: "]", count: 20)),
                        "big": .string(String(repeating: "x", count: 40_000)),
                    ]
                )
            )
            let reply = try await scene.signIn(idToken: token)
            reply.expectOK()
            #expect(reply["rawUserInfo"]?.string?.contains("__proto__") == true)
            let allowed: Set = [
                "iss", "aud", "auth_time", "user_id", "sub", "iat", "exp", "jti", "email", "email_verified", "firebase",
                "name",
                "picture",
            ]
            #expect(Set(reply.claims.object?.keys.map { $0 } ?? []).subtracting(allowed) == [])
            #expect(reply.claims["firebase"]?["sign_in_provider"] == "oidc.acme")
            #expect(reply.claims["firebase"]?["sign_in_attributes"] == nil, "more than a token should carry")
            #expect(reply.claims["user_id"]?.string == reply.localID)
        }
    }

    @Test("claims that OpenID does not define are sign_in_attributes of our tokens, also after a refresh")
    func signInAttributes() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(
                    set: ["groups": ["crew", "captains"], "level": 3, "firebase": ["sid": "x"], "user_id": "eve"]
                )
            )
            let reply = try await scene.signIn(idToken: token)
            let attributes: JSON = ["groups": ["crew", "captains"], "level": 3]
            #expect(reply.claims["firebase"]?["sign_in_attributes"] == attributes, "\(reply.claims)")
            let refreshed = try await scene.service.refresh(reply.refreshToken)
            #expect(refreshed.claims["firebase"]?["sign_in_attributes"] == attributes, "\(refreshed)")
            let plain = try await scene.signIn(idToken: try scene.tenant.mintIDToken(for: scene.ada))
            #expect(plain.claims["firebase"]?["sign_in_attributes"] == nil)
        }
    }

    // MARK: User info

    @Test(
        "T-C12: user info about another user, or without a subject, ends the sign-in",
        arguments: [
            #"{"sub":"eve"}"#, #"{}"#, #"{"sub":1}"#, #"{"sub":["ada/1|oidc.acme"]}"#, #"{"sub":"ADA/1|oidc.acme"}"#,
            #"{"id":"ada"}"#,
        ]
    )
    func userInfoSwap(_ body: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(.body(Array(body.utf8)), at: .userinfo)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(arrival) }
        }
    }
}
