import Accounts
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Grants revoked at Apple", .database, .testProvider)
struct AppleGrantTests {
    private static func run(
        _ options: ProviderScene.Options = .init(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.apple, options, body)
    }

    @Test("R-18: of Apple's tokens the refresh token alone is kept, sealed")
    func keepsTheRefreshTokenAlone() async throws {
        try await Self.run { scene in
            _ = try await scene.signIn()
            let rows = try await scene.service.stores.database.query(
                """
                SELECT tokens, refresh_token FROM linked_credentials
                WHERE project = \(scene.service.project.id.rawValue)
                """
            ) { row in (try row.next([UInt8]?.self), try row.next([UInt8]?.self)) }
            #expect(rows.count == 1)
            #expect(rows.first?.0 == nil)
            let sealed = String(decoding: rows.first?.1 ?? [], as: UTF8.self)
            #expect(!sealed.isEmpty)
            #expect(!sealed.contains(try #require(scene.tenant.refreshTokens.first)))
        }
    }

    @Test("revokeToken ends a grant by whatever the app has of it", arguments: ["1", "ACCESS_TOKEN", "3"])
    func revokeToken(type: String) async throws {
        try await Self.run { scene in
            let bundle = "com.example.app"
            scene.tenant.addClient(bundle, redirects: .anyLocal)
            let change = try await scene.service.admin(
                "defaultSupportedIdpConfigs/apple.com?updateMask=appleSignInConfig",
                ["appleSignInConfig": ["bundleIds": [.string(bundle)]]],
                method: "PATCH",
                version: "v2"
            )
            change.expectOK()
            let reply = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada, client: bundle))
            reply.expectOK()
            let token =
                switch type {
                case "1": scene.tenant.mintRefreshToken(for: scene.ada, client: bundle)
                case "3": scene.tenant.mintCode(for: scene.ada, client: bundle, redirectURI: nil)
                default: scene.tenant.mintAccessToken(for: scene.ada, client: bundle)
                }
            scene.secrets.add(token)
            func revoke(_ idToken: String?) async throws -> Reply {
                try await scene.service.post(
                    "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
                    text: JSON.object([
                        "providerId": "apple.com", "tokenType": .string(type), "token": .string(token),
                        "idToken": JSON(idToken),
                    ]).text
                )
            }
            let done = try await revoke(reply.idToken)
            done.expectOK()
            let request = try #require(scene.tenant.requests(.revocation).first)
            #expect(request.fields["client_id"] == bundle)
            #expect(request.fields["token_type_hint"] == (type == "ACCESS_TOKEN" ? "access_token" : "refresh_token"))
            #expect(try await scene.state(reply)["credentialState"] == "revoked")
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200, "the app goes on to delete")
        }
    }

    @Test("T-B4: a code that somebody else got revokes nothing")
    func strangersCode() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            let eve = scene.tenant.addUser(TestUser("eve", email: "eve@example.com", emailVerified: true, name: "Eve"))
            func revoke(_ user: TestUser) async throws -> Reply {
                let code = scene.tenant.mintCode(for: user, client: "client", redirectURI: nil)
                scene.secrets.add(code)
                return try await scene.service.post(
                    "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
                    text: JSON.object([
                        "providerId": "apple.com", "tokenType": "CODE", "token": .string(code),
                        "idToken": JSON(reply.idToken),
                    ]).text
                )
            }
            try await revoke(eve).expectRefused("INVALID_IDP_RESPONSE : The provider's response is not valid.")
            #expect(scene.tenant.requests(.revocation).isEmpty)
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
            try await revoke(scene.ada).expectOK()
            #expect(try await scene.state(reply)["credentialState"] == "revoked")
        }
    }

    @Test("revokeToken refuses what is not there to be revoked, and says when Apple cannot be asked")
    func refusedRevocation() async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await Self.run(options) { scene in
            let reply = try await scene.signIn()
            func revoke(_ body: JSON) async throws -> Reply {
                try await scene.service.post(
                    "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
                    text: body.text
                )
            }
            let stranger = try await scene.service.signUp("alan@example.com")
            let token = JSON(reply.idToken)
            for (body, code) in [
                (["providerId": "apple.com", "tokenType": 3, "token": "x"], "MISSING_ID_TOKEN"),
                (["providerId": "apple.com", "tokenType": 3, "idToken": token], "INVALID_ARGUMENT"),
                (["providerId": "apple.com", "token": "x", "idToken": token], "INVALID_ARGUMENT"),
                (["tokenType": 3, "token": "x", "idToken": token], "INVALID_PROVIDER_ID"),
                (
                    ["providerId": "apple.com", "tokenType": 3, "token": "x", "idToken": JSON(stranger.idToken)],
                    "INVALID_PROVIDER_ID"
                ),
                (["providerId": "apple.com", "tokenType": 3, "token": "x", "idToken": token], "INVALID_IDP_RESPONSE"),
            ] as [(JSON, String)] {
                let refused = try await revoke(body)
                #expect(refused.status == 400)
                #expect(refused.code == code, "\(refused)")
            }
            scene.tenant.addFault(.status(500), at: .revocation)
            let down = try await revoke([
                "providerId": "apple.com", "tokenType": 2, "token": "some-token", "idToken": token,
            ])
            #expect(down.status == 400)
            #expect(down.code == "INVALID_IDP_RESPONSE")
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
        }
    }

    @Test("R-66: after the permission was removed and given again, the name that comes again is taken")
    func nameComesAgain() async throws {
        try await Self.run { scene in
            let first = try await scene.arrive()
            let reply = try await scene.finish(first.with("user", nil))
            #expect(try await scene.service.account(reply.localID)?["displayName"] == nil)
            scene.tenant.revokeGrant(of: scene.ada)
            let second = try await scene.arrive()
            #expect(second.fields["user"] != nil)
            #expect(try await scene.finish(second)["displayName"] == "Ada")
            let account = try await scene.service.account(reply.localID)
            #expect(account?["displayName"] == "Ada")
            #expect(account?["providerUserInfo"]?[0]?["displayName"] == "Ada")
            // A name that the person chose here stays.
            let signedIn = try await scene.signIn()
            let renamed = try await scene.service.call(
                "accounts:update",
                ["idToken": JSON(signedIn.idToken), "displayName": "Countess"]
            )
            renamed.expectOK()
            scene.tenant.revokeGrant(of: scene.ada)
            #expect(try await scene.signIn().localID == reply.localID)
            #expect(try await scene.service.account(reply.localID)?["displayName"] == "Countess")
        }
    }

    @Test("R-66, R-67: a name that came with a conflict is there when the conflict is resolved")
    func nameThroughConflict() async throws {
        var options = ProviderScene.Options()
        options.definition = ["emailTrust": "never"]
        try await Self.run(options) { scene in
            let holder = try await scene.service.signUp("ada@example.com")
            let conflict = try await scene.signIn()
            #expect(conflict["needConfirmation"] == true, "\(conflict)")
            let linked = try await scene.service.signInWithIdP(
                postBody: "",
                idToken: holder.idToken,
                pendingToken: conflict.pendingToken
            )
            scene.secrets.add(from: linked)
            linked.expectOK()
            #expect(try await scene.service.account(holder.localID)?["displayName"] == "Ada")
            #expect(scene.tenant.requests(.token).count == 1, "Apple was not asked again")
        }
    }
}
