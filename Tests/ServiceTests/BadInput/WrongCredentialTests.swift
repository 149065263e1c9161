import Development
import Domain
import Foundation
import InMemoryLogging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Credentials that are wrong", .database)
struct WrongCredentialTests {
    @Test("a missing, foreign or revoked API key opens nothing", arguments: BadRequestTests.operations + ["token"])
    func apiKeys(_ operation: String) async throws {
        try await SignedUp.run { scene in
            let configuration = scene.service.stores.configuration
            let revoked = try await configuration.createAPIKey(for: scene.service.project.id, displayName: nil)
            try await configuration.revokeAPIKey(revoked)
            let path = "/v1/\(operation)"
            for suffix in ["", "?key=", "?key"] {
                let reply = try await scene.service.post(path + suffix, text: "{}")
                #expect(reply.status == 403, "\(suffix): \(reply)")
                #expect(reply["error"]?["status"] == "PERMISSION_DENIED")
            }
            let wrong = [
                revoked.rawValue, "x", scene.service.apiKey + "x", String(scene.service.apiKey.dropLast()),
                scene.service.apiKey.lowercased(),
                "%27%20OR%201=1", scene.service.adminToken, String(repeating: "A", count: 4_000), "%F0%9F%94%91",
            ]
            for key in wrong {
                let reply = try await scene.service.post(path + "?key=\(key)", text: "{}")
                #expect(reply.status == 400, "\(key): \(reply)")
                #expect(reply.error == "API key not valid. Please pass a valid API key.", "\(key)")
                #expect(reply["error"]?["details"]?[0]?["reason"] == "API_KEY_INVALID")
            }
        }
    }

    @Test("another project's tokens are worth nothing here")
    func foreignTokens() async throws {
        try await SignedUp.run { scene in
            try await TestService.run { other in
                let theirs = try await other.signUp("eve@example.com", "another password")
                for operation in [
                    "accounts:lookup", "accounts:update", "accounts:delete", "accounts:signOut",
                    "accounts:listSessions",
                ] {
                    let reply = try await scene.service.call(operation, ["idToken": JSON(theirs.idToken)])
                    #expect(reply.status == 400)
                    #expect(reply.error == "INVALID_ID_TOKEN", "\(operation): \(reply)")
                }
                let refreshed = try await scene.service.refresh(theirs.refreshToken)
                #expect(
                    refreshed.error == "PROJECT_NUMBER_MISMATCH" || refreshed.error == "INVALID_REFRESH_TOKEN",
                    "\(refreshed)"
                )
                try await other.lookUp(theirs.idToken).expectOK()
                try await other.refresh(theirs.refreshToken).expectOK()
            }
        }
    }

    @Test("an ID token that was cut, changed, re-signed or made up is refused by every operation that takes one")
    func brokenIDTokens() async throws {
        try await SignedUp.run { scene in
            let token = try #require(scene.account.idToken)
            let parts = token.split(separator: ".").map { String($0) }
            func header(_ alg: String) -> String { Base64URL.encode(#"{"alg":"\#(alg)","typ":"JWT"}"#.utf8) }
            var broken = [
                "a", "a.b.c", "...", token + ".x", token + "=", token + "A", " " + token, token.uppercased(),
                "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "\(parts[1]).\(parts[0]).\(parts[2])",
                scene.account.refreshToken ?? "", scene.service.adminToken,
            ]
            broken += ["none", "None", "HS256", "RS512", "ES256"].map { "\(header($0)).\(parts[1]).\(parts[2])" }
            broken += ["none", "NONE"].map { "\(header($0)).\(parts[1])." }
            broken += stride(from: 1, to: token.count, by: 61).map { String(token.prefix($0)) }
            broken += stride(from: 0, to: token.count, by: 29).map { flip(token, at: $0) }
            for text in broken {
                for operation in [
                    "accounts:lookup", "accounts:update", "accounts:delete", "accounts:listSessions",
                    "accounts:signOut",
                ] {
                    let reply = try await scene.service.call(operation, ["idToken": .string(text)])
                    #expect(reply.status == 400, "\(text): \(reply)")
                    #expect(["INVALID_ID_TOKEN", "MISSING_ID_TOKEN"].contains(reply.error), "\(text): \(reply)")
                }
            }
            try await scene.service.lookUp(token).expectOK()
        }
    }

    /// Another character of the same alphabet in the place of one.
    private func flip(_ text: String, at offset: Int) -> String {
        var bytes = Array(text.utf8)
        bytes[offset] = bytes[offset] == UInt8(ascii: "A") ? UInt8(ascii: "Q") : UInt8(ascii: "A")
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("an ID token ends after an hour, and an hour later still")
    func expiredIDToken() async throws {
        try await SignedUp.run { scene in
            scene.service.clock.advance(by: 3_599)
            try await scene.service.lookUp(scene.account.idToken).expectOK()
            scene.service.clock.advance(by: 3_600)
            for operation in ["accounts:lookup", "accounts:update", "accounts:delete"] {
                let reply = try await scene.service.call(operation, ["idToken": JSON(scene.account.idToken)])
                #expect(reply.error == "INVALID_ID_TOKEN", "\(operation): \(reply)")
            }
            try await scene.service.refresh(scene.account.refreshToken).expectOK()
        }
    }

    @Test("T-E10: no header brings the service down or opens a door")
    func headers() async throws {
        try await SignedUp.run { scene in
            let values = [
                "Bearer", "Bearer ", "Bearer  ", "Basic", "Basic !!!!",
                "Basic \(Data("a:b".utf8).base64EncodedString())", "bearer a b",
                "Bearer \(scene.service.adminToken)x", "Bearer x \(scene.service.adminToken)",
                "Bearer,\(scene.service.adminToken)",
                "Digest username=\"x\"", "Bearer \(String(repeating: "a", count: 8_000))", "Bearer %00", "Bearer owner",
                "owner", "Bearer null",
                "Bearer eyJhbGciOiJub25lIn0.e30.", "Token \(scene.service.adminToken)", "\(scene.service.adminToken)",
                "Bearer \"\(scene.service.adminToken)\"", "Bearer\t\(scene.service.adminToken)", ";;;", "=", "Bearer =",
                "\u{ff}",
            ]
            for value in values {
                let reply = try await scene.service.send(
                    "POST",
                    "/v1/projects/\(scene.service.project.id)/accounts:lookup",
                    headers: [("Authorization", value), ("Content-Type", "application/json")],
                    body: Array("{}".utf8)
                )
                #expect(reply.status == 401, "\(value): \(reply)")
                reply.checkEnvelope()
            }
            let odd: [(String, String)] = [
                ("Content-Type", "application/json; charset=\u{ff}"), ("Content-Type", ""), ("Accept", "text/xml;q=x"),
                ("Origin", "null"),
                ("X-Forwarded-For", "not an address, ::::, 1.2.3"),
                ("User-Agent", String(repeating: "é", count: 4_000)),
                ("X-Client-Version", "\u{ff}"), ("Accept-Language", ",,,;q=9"),
                ("X-Firebase-Locale", "../../etc"), ("Cookie", "a=b; ;;="),
                ("X-Goog-Api-Key", "\u{ff}"), ("Range", "bytes=99999999999999999999-"), ("If-Match", "\"\"\""),
            ]
            for (name, value) in odd {
                let reply = try await scene.service.call(
                    "accounts:lookup",
                    ["idToken": JSON(scene.account.idToken)],
                    headers: [(name, value)]
                )
                #expect(reply.status == 200, "\(name): \(reply)")
            }
        }
    }

    @Test("T-E10: configuration that cannot be read at run time denies, and serves again when it can")
    func brokenConfiguration() async throws {
        try await SignedUp.run { scene in
            let project = scene.service.project.id.rawValue
            let database = TestDatabase.current.client
            let providers = scene.service.stores.configuration
            try await scene.service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
                [
                    "clientId": "c", "clientSecret": "the-client-secret", "issuer": "https://issuer.example.com",
                    "enabled": true,
                ],
                version: "v2"
            )
            // What the definition says is no longer JSON.
            try await database.execute(
                "UPDATE provider_configurations SET overrides = '{broken' WHERE project = \(project)"
            )
            try await database.execute("UPDATE configuration SET version = version + 1")
            try await providers.refresh()
            try await scene.refuses {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"]
                )
            }
            try await scene.refuses {
                try await scene.service.signInWithIdP(
                    postBody: "id_token=eyJhbGciOiJub25lIn0.e30.AA&providerId=oidc.acme"
                )
            }
            // The admin's credential is gone from one moment to the next.
            try await database.execute("UPDATE admin_credentials SET disabled = true WHERE name = 'tests'")
            let denied = try await scene.service.admin("accounts:lookup", ["localId": ["x"]])
            #expect(denied.status == 401, "\(denied)")
            try await database.execute("UPDATE admin_credentials SET disabled = false WHERE name = 'tests'")
            try await scene.service.admin("accounts:lookup", ["localId": ["x"]]).expectOK()
        }
    }
}
