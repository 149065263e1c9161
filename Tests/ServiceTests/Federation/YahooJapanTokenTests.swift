import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Yahoo! JAPAN: tokens, user info, keys", .database, .testProvider)
struct YahooJapanTokenTests {
    // MARK: Tokens, user info

    @Test("R-15: the access token that came through the browser is never taken for the one that was exchanged")
    func apart() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            for type in ["code token", "code id_token token"] {
                let arrival = try await scene.arrive(["responseType": .string(type)])
                let front = try #require(arrival.fields["access_token"])
                #expect(arrival.fields["expires_in"] == "1800")
                let reply = try await scene.finish(arrival)
                #expect(reply["oauthExpireIn"] == 3600)
                let own = try #require(reply["oauthAccessToken"]?.string)
                #expect(own != front)
                #expect(reply["oauthIdToken"]?.string != arrival.fields["id_token"])
                #expect(!reply.response.text.contains(front))
                let asked = scene.tenant.requests(.userinfo).map { $0.header("authorization") }
                #expect(asked.contains("Bearer " + own))
                #expect(asked.contains("Bearer " + front) == (type == "code token"), "only to see whose it is")
            }
        }
    }

    @Test("R-16: user info may be refused, for want of an approval: the ID token is enough")
    func noApproval() async throws {
        var options = ProviderScene.Options()
        options.personality = { $0.approvesUserInfo = false }
        try await ProviderScene.run(.yahooJapan, options) { scene in
            for type in ["code", "code token", "code id_token token"] {
                let reply = try await scene.signIn(["responseType": .string(type)])
                reply.expectOK()
                #expect(reply["email"] == nil)
                #expect(reply["federatedId"]?.string == "oidc.yahoojp/" + scene.ada.subject)
                #expect(reply["rawUserInfo"]?.string?.contains("\"sub\"") == true)
            }
            #expect(scene.tenant.requests(.userinfo).map(\.status) == [403, 403, 403])
        }
    }

    @Test("R-16: user info about another user is refused; names in kana are kept as sent")
    func userInfo() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            var ada = scene.ada
            ada.claims = ["family_name#ja-Kana-JP": "ラブレス", "family_name#ja-Hani-JP": "愛"]
            scene.tenant.nextLogin(ada)
            let reply = try await scene.signIn(["responseType": "code id_token"])
            let raw = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            #expect(raw["family_name#ja-Kana-JP"] == "ラブレス")
            #expect(raw["family_name#ja-Hani-JP"] == "愛")
            #expect(reply["lastName"] == "Lovelace")
            let arrival = try await scene.arrive(["responseType": "code id_token"])
            scene.tenant.addFault(.members(set: ["sub": "somebody-else"]), at: .userinfo)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(arrival) }
        }
    }

    @Test("R-19: errors of the token endpoint are read by their name, whatever number comes along")
    func errorCodes() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            for (status, error, message) in [
                (400, "invalid_grant", Messages.usedCode), (401, "invalid_client", Messages.clientRejected),
                (503, "server_error", Messages.providerDown),
            ] {
                let arrival = try await scene.arrive(["responseType": "code id_token"])
                let body: JSONValue = [
                    "error": .string(error), "error_description": "expired token", "error_code": 1100,
                ]
                scene.tenant.addFault(.answer(ProviderAnswer(status, .json(body))), at: .token)
                try await scene.refuses(message) { try await scene.finish(arrival) }
            }
        }
    }

    // MARK: Keys

    @Test(
        "R-14: keys that are not answered with 200 and a body end the sign-in, and only this one",
        arguments: [
            FaultCase("404", .status(404), Messages.providerDown),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("204", .answer(ProviderAnswer(204, .empty)), Messages.providerDown),
            FaultCase("404 with keys", .rewrite { ProviderAnswer(404, $0.body) }, Messages.providerDown),
            FaultCase("empty body", .body([], contentType: "application/json"), Messages.providerDown),
            FaultCase("white space", .body([32, 10], contentType: "application/json"), Messages.providerDown),
            FaultCase("a page", .body(Array("<html></html>".utf8), contentType: "text/html"), Messages.providerDown),
            FaultCase("a list", .body(Array("[]".utf8)), Messages.providerDown),
            FaultCase("no keys", .body(Array(#"{"keys":[]}"#.utf8)), Messages.badSignature),
        ],
        [ProviderEndpoint.keys, .publicKeys]
    )
    func keys(_ test: FaultCase, _ endpoint: ProviderEndpoint) async throws {
        try await scene(keys: endpoint) { scene in
            let arrival = try await scene.arrive(["responseType": "code id_token"])
            scene.tenant.addFault(test.fault, at: endpoint)
            try await scene.refuses(test.message) { try await scene.finish(arrival) }
            #expect(scene.tenant.requests(.token).isEmpty)
            scene.service.clock.advance(by: 60)
            let next = try await scene.signIn(["responseType": "code id_token"])
            next.expectOK()
        }
    }

    @Test("R-13: keys may come as a map of PEM texts")
    func pemMap() async throws {
        try await scene(keys: .publicKeys) { scene in
            try await scene.signIn(["responseType": "code id_token"]).expectOK()
            #expect(scene.tenant.requests(.keys).isEmpty)
            // Another key, published with other line ends.
            try scene.tenant.rotateKeys(keepOld: false)
            let other = try scene.tenant.signingKey()
            let map: JSONValue = [other.kid: .string(other.publicKeyPEM.replacing("\n", with: "\r\n"))]
            scene.tenant.addFault(.answer(ProviderAnswer(.json(map))), at: .publicKeys)
            let reply = try await scene.signIn(["responseType": "code id_token"])
            reply.expectOK()
            // A key that is not in the map signs nothing.
            try scene.tenant.rotateKeys(publish: false)
            scene.service.clock.advance(by: 60)
            let unpublished = try await scene.arrive(["responseType": "code id_token"])
            try await scene.refuses(Messages.badSignature) { try await scene.finish(unpublished) }
        }
    }

    private func scene(
        keys endpoint: ProviderEndpoint,
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            if endpoint == .publicKeys, let url = scene.tenant.url(.publicKeys) {
                let changes: JSONObject = [
                    "endpoints": ["keys": .string(url)], "idToken": ["keyFormat": "pem_map"],
                ]
                try await scene.service.stores.configuration.replaceProvider(
                    scene.tenant.configuration(as: scene.provider, overrides: changes),
                    in: .init(project: scene.service.project.id)
                )
            }
            try await body(scene)
        }
    }
}
