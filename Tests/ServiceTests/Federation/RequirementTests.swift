import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit
import Text

/// Requirements that no other suite shows.
@Suite("Further requirements from the sources", .database, .testProvider)
struct RequirementTests {
    @Test(
        "R-29: the service makes the request, checks the callback, exchanges the code with client id and secret",
        arguments: ProviderScene.Kind.withCodes.filter { $0 != .apple }
    )
    func wholeWebFlow(_ kind: ProviderScene.Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            // All that an app knows: whom to sign in with, and where it wants the browser back.
            let arrival = try await scene.arrive()
            #expect(scene.tenant.requests(.token).isEmpty)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            let exchange = try #require(scene.tenant.requests(.token).first)
            #expect(exchange.fields["code"] == arrival.fields["code"])
            // The provider refuses a code without the client's secret, of which the app has seen nothing.
            #expect(exchange.status == 200)
            #expect(exchange.fields["client_secret"] != nil || exchange.header("authorization") != nil)
            for seen in ["\(arrival)", "\(reply)"] { #expect(!seen.contains(ProviderScene.clientSecret)) }
        }
    }

    @Test("R-41: the person is the same in every app of the project")
    func everyApp() async throws {
        try await ProviderScene.run(.google) { scene in
            let first = try await scene.signIn()
            let key = try await scene.service.stores.configuration.createAPIKey(
                for: scene.service.project.id,
                displayName: "another app"
            )
            let token = try scene.tenant.mintIDToken(for: scene.ada)
            let post = FormFields(pairs: [("id_token", token), ("providerId", "google.com")]).text
            let reply = try await scene.service.post(
                "/v1/accounts:signInWithIdp?key=\(key.rawValue)",
                text: JSON.object(["requestUri": "http://localhost", "postBody": .string(post)]).text
            )
            scene.secrets.add(from: reply)
            scene.secrets.add(token)
            reply.expectOK()
            #expect(reply.localID == first.localID)
            #expect(reply["isNewUser"] == nil)
        }
    }

    @Test("R-44: a plain OAuth2 provider is added by its description alone, while the service runs")
    func describedProvider() async throws {
        try await TestService.run { service in
            let tenant = try await TestProvider.tenant(.genericOAuth2)
            tenant.addClient(secrets: ["client-secret"], redirects: .anyLocal)
            let ada = tenant.addUser(TestUser("ada-1", email: "ada@example.com", name: "Ada"))
            tenant.everyLogin(ada)
            let flow: JSON = ["providerId": "oauth.new", "continueUri": "http://localhost/callback"]
            #expect(try await service.call("accounts:createAuthUri", flow).code == "OPERATION_NOT_ALLOWED")
            let made = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oauth.new",
                [
                    "enabled": true, "clientId": "client", "clientSecret": "client-secret",
                    "definition": [
                        "endpoints": [
                            "authorization": JSON(tenant.url(.authorization)), "token": JSON(tenant.url(.token)),
                            "userInfo": JSON(tenant.url(.userinfo)),
                        ]
                    ],
                ],
                version: "v2"
            )
            made.expectOK()
            let reply = try await service.signIn(through: ProviderID("oauth.new"))
            reply.expectOK()
            #expect(reply["federatedId"] == "ada-1")
            #expect(tenant.violations.isEmpty)
        }
    }

    @Test("R-49: the whole profile is kept with the account, sealed")
    func wholeProfile() async throws {
        try await ProviderScene.run(.github) { scene in
            var ada = scene.ada
            ada.claims["company"] = "Analytical Engines"
            scene.tenant.everyLogin(scene.tenant.addUser(ada))
            let reply = try await scene.signIn()
            let (project, account) = (scene.service.project.id, try #require(reply.localID))
            let rows = try await scene.service.stores.database.query(
                "SELECT profile FROM linked_credentials WHERE project = \(project.rawValue) AND account = \(account)"
            ) { row in try row.next([UInt8].self) }
            let sealed = try #require(rows.first)
            #expect(!String(decoding: sealed, as: UTF8.self).contains("Analytical"))
            let place = "linked_credentials/\(project)/\(account)/github.com/profile"
            let profile = try scene.service.stores.keyRing.open(sealed, for: place)
            #expect(String(decoding: profile, as: UTF8.self) == reply["rawUserInfo"]?.string)
            #expect(try JSON(parsing: profile)["company"] == "Analytical Engines")
        }
    }

    @Test("R-70, R-73: an account of Apple needs no password, and a password of the keychain signs in to it as well")
    func keychainPassword() async throws {
        try await ProviderScene.run(.apple) { scene in
            let apple = try await scene.signIn()
            let linked = try await scene.service.call(
                "accounts:update",
                ["idToken": JSON(apple.idToken), "password": "from the keychain"]
            )
            linked.expectOK()
            let byPassword = try await scene.service.signInWithPassword("ada@example.com", "from the keychain")
            scene.secrets.add(from: byPassword)
            #expect(byPassword.localID == apple.localID)
            let ways = try await scene.service.account(apple.localID)?["providerUserInfo"]?.array
            #expect(Set(ways?.compactMap { $0["providerId"]?.string } ?? []) == ["apple.com", "password"])
            #expect(try await scene.signIn().localID == apple.localID)
        }
    }

    @Test(
        "R-77, R-78: the next launch resumes without a prompt, a year later too, until the service is told to sign out"
    )
    func resumes() async throws {
        try await ProviderScene.run(.apple) { scene in
            let reply = try await scene.signIn()
            #expect(reply["isNewUser"] == true, "registered here")
            scene.service.clock.advance(by: 400 * 86_400)
            let resumed = try await scene.service.refresh(reply.refreshToken)
            scene.secrets.add(from: resumed)
            resumed.expectOK()
            #expect(scene.tenant.requests(.token).count == 1, "Apple was not asked")
            let out = try await scene.service.call("accounts:signOut", ["idToken": JSON(resumed.idToken)])
            out.expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
        }
    }
}
