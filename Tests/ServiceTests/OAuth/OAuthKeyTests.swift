import Crypto
import Foundation
import Postgres
import Projects
import Secrets
import TestKit
import Testing
import Text

/// Clients that have a key: `private_key_jwt` (RFC 7523) and DPoP (RFC 9449).
@Suite("Applications with a key", .database)
struct OAuthKeyTests {
    /// A key of a client, and what it signs.
    private struct Key {
        let key = P256.Signing.PrivateKey()

        var jwk: JSON {
            let point = Array(key.publicKey.rawRepresentation)
            return [
                "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(point.prefix(32))),
                "y": .string(Base64URL.encode(point.suffix(32))),
            ]
        }

        /// RFC 7638 §3.1, by hand.
        var thumbprint: String {
            let (x, y) = (jwk["x"]?.string ?? "", jwk["y"]?.string ?? "")
            return Base64URL.encode(
                SecureHash.sha256("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(x)\",\"y\":\"\(y)\"}")
            )
        }

        func sign(_ header: [String: JSON], _ claims: [String: JSON]) throws -> String {
            func part(_ members: [String: JSON]) throws -> String {
                Base64URL.encode(Array(JSON.object(members).text.utf8))
            }
            let text = try part(["alg": "ES256"].merging(header) { $1 }) + "." + part(claims)
            return text + "." + Base64URL.encode(Array(try key.signature(for: Data(text.utf8)).rawRepresentation))
        }
    }

    // MARK: private_key_jwt

    private static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private static func client(of key: Key) -> JSON {
        OAuthScene.publicClient([
            "token_endpoint_auth_method": "private_key_jwt", "jwks": ["keys": [key.jwk]],
        ])
    }

    private func assertion(
        _ scene: OAuthScene,
        _ key: Key,
        _ more: [String: JSON] = [:]
    ) throws -> [(String, String?)] {
        let now = scene.service.clock.seconds
        let claims: [String: JSON] = [
            "iss": .string(scene.clientID), "sub": .string(scene.clientID),
            "aud": .string(scene.issuer + "/oauth/token"),
            "jti": .string(RandomSource.system.handle()), "exp": .number(Double(now + 60)), "iat": .number(Double(now)),
        ]
        let text = try key.sign(["typ": "JWT"], claims.merging(more) { $1 })
        return [("client_assertion_type", Self.type), ("client_assertion", text)]
    }

    @Test("T-F13: a client's assertion is its key's, for this service, and used once")
    func assertions() async throws {
        let key = Key()
        try await OAuthScene.run(Self.client(of: key)) { scene in
            let code = try await scene.authorize().query["code"]
            let now = scene.service.clock.seconds
            let wrong: [(String, [String: JSON])] = [
                ("aud", ["aud": "https://other.example"]),
                ("audiences", ["aud": [.string(scene.issuer), "https://x.example"]]),
                ("no audience", ["aud": []]), ("a number", ["aud": [.string(scene.issuer), 5]]),
                ("a time as text", ["exp": .string(String(now + 60))]), ("a start as text", ["nbf": "0"]),
                ("iss", ["iss": "other"]), ("sub", ["sub": "other"]), ("expired", ["exp": .number(Double(now - 61))]),
                ("too long", ["exp": .number(Double(now + 3_601))]), ("no exp", ["exp": .null]),
                ("no jti", ["jti": .null]),
                ("early", ["nbf": .number(Double(now + 120))]),
            ]
            for (name, claims) in wrong {
                let reply = try await scene.redeem(code, verifier: nil, try assertion(scene, key, claims))
                #expect(reply.oauthError == "invalid_client", "\(name): \(reply)")
            }
            #expect(
                try await scene.redeem(code, verifier: nil, try assertion(scene, Key())).oauthError == "invalid_client",
                "key"
            )
            #expect(try await scene.redeem(code).oauthError == "invalid_client", "none")
            let secret = try await scene.redeem(code, verifier: nil, [("client_secret", "guess")])
            #expect(secret.oauthError == "invalid_client")
            let proof = try assertion(scene, key)
            let reply = try await scene.redeem(code, verifier: nil, proof)
            reply.expectOK()
            let again = try await scene.refresh(reply.refreshToken, proof)
            #expect(again.oauthError == "invalid_client", "used twice: \(again)")
            let refreshed = try await scene.refresh(
                reply.refreshToken,
                // As openid-client sends both (348), and Python a time with its fraction.
                try assertion(
                    scene,
                    key,
                    [
                        "aud": [.string(scene.issuer), .string(scene.issuer + "/oauth/token")],
                        "exp": .number(Double(now) + 60.5),
                    ]
                )
            )
            refreshed.expectOK()
            // A confidential client, so it may introspect.
            let seen = try await scene.post("introspect", [("token", refreshed.accessToken)] + assertion(scene, key))
            #expect(seen["active"] == true, "\(seen)")
            let two = try await scene.post(
                "introspect",
                [("token", "x"), ("client_secret", "y")] + assertion(scene, key)
            )
            #expect(two.oauthError == "invalid_request", "\(two)")
        }
    }

    @Test("a client with a secret cannot take the key's way, and keys must be public")
    func registrations() async throws {
        let key = Key()
        try await OAuthScene.run(OAuthScene.confidentialClient(["jwks": ["keys": [key.jwk]]])) { scene in
            let reply = try await scene.post(
                "introspect",
                [("token", "x"), ("client_secret", nil)] + assertion(scene, key)
            )
            #expect(reply.oauthError == "invalid_request", "the scene sends the secret too: \(reply)")
            var other = scene
            other.secret = nil
            let alone = try await other.post("introspect", [("token", "x")] + assertion(scene, key))
            #expect(alone.oauthError == "invalid_client", "\(alone)")
            let refused: [JSON] = [
                [:], ["jwks": ["keys": []]], ["jwks": ["keys": [["kty": "oct", "k": "AAAA"]]]],
                ["jwks_uri": "http://x.example/k"],
                ["jwks": ["keys": [key.jwk]], "jwks_uri": "https://x.example/k"],
            ]
            for members in refused {
                let client = OAuthScene.publicClient(["token_endpoint_auth_method": "private_key_jwt"])
                let all = JSON.object((client.object ?? [:]).merging(members.object ?? [:]) { $1 })
                #expect(try await scene.service.admin("oauthClients", all, version: "v2").status == 400, "\(members)")
            }
        }
    }

    @Test("keys at a URL are read from there, and again when the client has a new one")
    func keysAtURL() async throws {
        let (first, second) = (Key(), Key())
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (200, JSON.object(["keys": [first.jwk]]).text) }
            let client = OAuthScene.publicClient([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(receiver.baseURL + "/keys"),
            ])
            try await OAuthScene.run(client) { scene in
                let reply = try await scene.redeem(
                    scene.authorize().query["code"],
                    verifier: nil,
                    try assertion(scene, first)
                )
                reply.expectOK()
                receiver.answer { _ in (200, JSON.object(["keys": [second.jwk]]).text) }
                scene.service.clock.advance(by: 3_600)
                let later = try await scene.refresh(reply.refreshToken, try assertion(scene, second))
                later.expectOK()
            }
        }
    }

    // MARK: DPoP

    private func proof(
        _ scene: OAuthScene,
        _ key: Key,
        _ path: String = "/oauth/token",
        _ claims: [String: JSON] = [:],
        header: [String: JSON] = [:]
    ) throws -> (String, String) {
        let usual: [String: JSON] = [
            "htm": "POST", "htu": .string(scene.issuer + path), "iat": .number(Double(scene.service.clock.seconds)),
            "jti": .string(RandomSource.system.handle()),
        ]
        let text = try key.sign(
            ["typ": "dpop+jwt", "jwk": key.jwk].merging(header) { $1 },
            usual.merging(claims) { $1 }
        )
        return ("DPoP", text)
    }

    private func userInfo(
        _ scene: OAuthScene,
        _ token: String?,
        _ key: Key?,
        scheme: String = "DPoP"
    ) async throws -> Reply {
        var headers = [("Authorization", "\(scheme) \(token ?? "")")]
        if let key {
            let hash = Base64URL.encode(SecureHash.sha256(token ?? ""))
            headers.append(try proof(scene, key, "/oauth/userinfo", ["htm": "GET", "ath": .string(hash)]))
        }
        return try await scene.service.send("GET", "/\(scene.service.project.id)/oauth/userinfo", headers: headers)
    }

    @Test("T-F14: tokens bound to a key are worth nothing without it, at userinfo and at a refresh")
    func bound() async throws {
        let (key, thief) = (Key(), Key())
        try await OAuthScene.run { scene in
            let code = try await scene.authorize([("dpop_jkt", key.thumbprint)]).query["code"]
            #expect(try await scene.redeem(code).oauthError == "invalid_grant", "no proof")
            #expect(
                try await scene.redeem(code, headers: [try proof(scene, thief)]).oauthError == "invalid_grant",
                "another key"
            )
            let reply = try await scene.redeem(code, headers: [try proof(scene, key)])
            #expect(reply.status == 200 && reply["token_type"] == "DPoP", "\(reply)")
            let claims = Reply.claims(of: reply.accessToken ?? "")
            #expect(claims["cnf"]?["jkt"]?.string == key.thumbprint)

            try await userInfo(scene, reply.accessToken, key).expectOK()
            #expect(try await userInfo(scene, reply.accessToken, thief).oauthError == "invalid_token")
            #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token", "as a bearer token")
            #expect(try await userInfo(scene, reply.accessToken, nil).oauthError == "invalid_dpop_proof")

            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant", "no proof")
            let stolen = try await scene.refresh(reply.refreshToken, headers: [try proof(scene, thief)])
            #expect(stolen.oauthError == "invalid_grant")
            let refreshed = try await scene.refresh(reply.refreshToken, headers: [try proof(scene, key)])
            #expect(
                refreshed.status == 200 && refreshed["token_type"] == "DPoP",
                "a thief's tries end nothing: \(refreshed)"
            )
        }
    }

    @Test("T-F15: a proof is for one request, and recent")
    func proofs() async throws {
        let key = Key()
        try await OAuthScene.run { scene in
            let reply = try await scene.redeem(scene.authorize().query["code"], headers: [try proof(scene, key)])
            let now = scene.service.clock.seconds
            let wrong: [(String, (String, String))] = [
                ("method", try proof(scene, key, "/oauth/token", ["htm": "GET"])),
                ("address", try proof(scene, key, "/oauth/par")),
                ("host", try proof(scene, key, "/oauth/token", ["htu": "https://other.example/oauth/token"])),
                ("old", try proof(scene, key, "/oauth/token", ["iat": .number(Double(now - 300))])),
                ("early", try proof(scene, key, "/oauth/token", ["iat": .number(Double(now + 61))])),
                ("no jti", try proof(scene, key, "/oauth/token", ["jti": .null])),
                ("type", try proof(scene, key, header: ["typ": "JWT"])),
                ("another key", try proof(scene, key, header: ["jwk": Key().jwk])),
                ("no key", try proof(scene, key, header: ["jwk": .null])),
                ("none", ("DPoP", "e30.e30.")), ("junk", ("DPoP", "x")),
            ]
            for (name, header) in wrong {
                let refused = try await scene.refresh(reply.refreshToken, headers: [header])
                #expect(refused.oauthError == "invalid_dpop_proof", "\(name): \(refused)")
            }
            let once = try proof(scene, key, "/oauth/token", ["iat": .number(Double(now) + 0.5)])
            let refreshed = try await scene.refresh(reply.refreshToken, headers: [once])
            refreshed.expectOK()
            let replayed = try await scene.refresh(refreshed.refreshToken, headers: [once])
            #expect(replayed.oauthError == "invalid_dpop_proof", "\(replayed)")
            // Nothing was used up by that.
            let code = try await scene.open().query["code"]
            #expect(try await scene.redeem(code, headers: [once]).oauthError == "invalid_dpop_proof")
            try await scene.redeem(code, headers: [try proof(scene, key)]).expectOK()
            // Clients spell the address as they please (§4.3).
            let upper = scene.issuer.replacing("http://", with: "HTTP://") + "/./oauth/t%6Fken?a=b"
            let spelled = try proof(scene, key, "/oauth/token", ["htu": .string(upper)])
            let last = try await scene.refresh(refreshed.refreshToken, headers: [spelled])
            last.expectOK()
        }
    }

    @Test("T-F18: whoever has no code and no token stores no proof")
    func storesNothing() async throws {
        let (key, thief) = (Key(), Key())
        try await OAuthScene.run { scene in
            let reply = try await scene.redeem(scene.authorize().query["code"], headers: [try proof(scene, key)])
            #expect(try await storedProofs(scene) == [1])
            let refused = [
                try await userInfo(scene, reply.accessToken, thief), try await userInfo(scene, "nonsense", thief),
                try await scene.redeem("nonsense", headers: [try proof(scene, thief)]),
                try await scene.refresh("nonsense", headers: [try proof(scene, thief)]),
                try await scene.refresh(reply.refreshToken, headers: [try proof(scene, thief)]),
            ]
            #expect(refused.allSatisfy { $0.status >= 400 }, "\(refused)")
            #expect(try await storedProofs(scene) == [1])
            try await userInfo(scene, reply.accessToken, key).expectOK()
            #expect(try await storedProofs(scene) == [2])
        }
    }

    private func storedProofs(_ scene: OAuthScene) async throws -> [Int64] {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM used_id_tokens WHERE project = \(scene.service.project.id.rawValue)"
        ) { try $0.next(Int64.self) }
    }

    @Test("a confidential client's access tokens are bound, its refresh tokens to its own authentication")
    func confidential() async throws {
        let key = Key()
        try await OAuthScene.run(OAuthScene.confidentialClient()) { scene in
            let reply = try await scene.redeem(scene.authorize().query["code"], headers: [try proof(scene, key)])
            #expect(reply["token_type"] == "DPoP")
            let seen = try await scene.post("introspect", [("token", reply.accessToken)])
            #expect(seen["token_type"] == "DPoP" && seen["cnf"]?["jkt"]?.string == key.thumbprint, "\(seen)")
            let refreshed = try await scene.refresh(reply.refreshToken)
            #expect(refreshed.status == 200 && refreshed["token_type"] == "Bearer", "\(refreshed)")
        }
    }
}
