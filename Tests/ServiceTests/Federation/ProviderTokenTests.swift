import Accounts
import Development
import Domain
import Federation
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Outbound
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Providers' tokens: kept, renewed, handed out", .database, .testProvider)
struct ProviderTokenTests {
    typealias Kind = ProviderScene.Kind

    static let renewable = Kind.allCases.filter { $0.personality.refreshTokens != .never }

    // MARK: Handing out

    @Test(
        "R-32, R-51: an access token is handed out as long as it is good, then renewed without the person",
        arguments: Kind.allCases.filter { !$0.personality.lengthensTokens }
    )
    func renews(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            let first = try await scene.providerToken(user.idToken)
            first.expectOK()
            #expect(first["oauthAccessToken"] == user["oauthAccessToken"])
            #expect(first["providerId"]?.string == kind.rawValue)
            #expect(first["oauthIdToken"] == user["oauthIdToken"])
            // Nothing was asked for at the plain one.
            #expect((first["scopes"]?.array ?? []).isEmpty == [Kind.oauth2, .twitter].contains(kind))
            #expect(scene.tenant.requests(.token).count == 1)
            guard let lifetime = kind.personality.accessTokenLifetime else {
                #expect(first["oauthExpireIn"] == nil && first["expiresAt"] == nil)
                return
            }
            #expect(first["oauthExpireIn"]?.number == Double(lifetime))
            let end = scene.service.clock.seconds + lifetime
            #expect(first["expiresAt"]?.string == String(end * 1_000))

            scene.service.clock.advance(by: Double(lifetime - 61))
            #expect(try await scene.providerToken(scene.session(user))["oauthAccessToken"] == first["oauthAccessToken"])
            scene.service.clock.advance(by: 1)
            let second = try await scene.providerToken(scene.session(user))
            second.expectOK()
            #expect(second["oauthAccessToken"] != first["oauthAccessToken"])
            #expect(second["oauthExpireIn"]?.number == Double(lifetime))
            #expect(second["scopes"] == first["scopes"])
            // The provider's clock is the real one: an ID token of a week ago is none.
            let brings = kind.isOpenID && kind.personality.refreshesIDToken && lifetime <= 3_600
            #expect((second["oauthIdToken"] != nil) == brings, "\(second)")
            #expect(second["oauthRefreshToken"] == nil && second.refreshToken == nil)
            if kind.hasProfile {
                #expect(try await scene.profileStatus(with: second["oauthAccessToken"]?.string) == 200)
            }
            #expect(scene.tenant.requests(.token).count == 2)
            #expect(
                try await scene.providerToken(scene.session(user))["oauthAccessToken"] == second["oauthAccessToken"]
            )
            #expect(scene.tenant.requests(.token).count == 2)
        }
    }

    @Test("an admin gets the same token by the account's id", arguments: [Kind.oidc, .oauth2])
    func admin(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            let request: JSON = ["localId": JSON(user.localID), "providerId": .string(kind.rawValue)]
            let reply = try await scene.service.admin("accounts:providerToken", request)
            #expect(reply["oauthAccessToken"] == user["oauthAccessToken"], "\(reply)")
            let bad: [(JSON, String)] = [
                (["providerId": .string(kind.rawValue)], "MISSING_LOCAL_ID"),
                (["localId": "nobody", "providerId": .string(kind.rawValue)], "USER_NOT_FOUND"),
                (["localId": JSON(user.localID)], Messages.unsupportedProvider),
                (["localId": JSON(user.localID), "providerId": "google.com"], Messages.noProvider),
            ]
            for (body, error) in bad {
                try await scene.service.admin("accounts:providerToken", body).expectRefused(error)
            }
            // Whoever may only read accounts gets no tokens of theirs.
            let (_, reader) = try await scene.service.stores.configuration.createAdminCredential(
                name: "reader",
                project: nil,
                scopes: [.readAccounts],
                expiresAt: nil
            )
            let refused = try await scene.service.send(
                "POST",
                "/v1/projects/\(scene.service.project.id)/accounts:providerToken",
                headers: [("Authorization", "Bearer \(reader.reveal())"), ("Content-Type", "application/json")],
                body: Array(request.text.utf8)
            )
            #expect(refused.status == 403, "\(refused)")
            let stranger = try await scene.service.signUp("stranger@example.com")
            let other = try await scene.providerToken(stranger.idToken)
            #expect(other.error == "INVALID_PROVIDER_ID : The account has no identity of this provider.")
            #expect(try await scene.providerToken("junk").error == "INVALID_ID_TOKEN")
            #expect(try await scene.providerToken(nil).error == "MISSING_ID_TOKEN")
        }
    }

    // MARK: Keeping

    /// Apple's refresh token is kept to end the grant: `AppleLifeCycleTests`.
    @Test(
        "R-18: without the setting nothing of a provider's tokens is kept",
        arguments: Kind.allCases.filter { $0 != .apple }
    )
    func keepsNothing(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            for _ in 0..<2 {
                let user = try await scene.signIn()
                #expect(user["oauthAccessToken"] != nil)
                #expect(try await scene.keptColumns() == 0)
                let reply = try await scene.providerToken(user.idToken)
                #expect(reply.error == "OPERATION_NOT_ALLOWED : The tokens of this provider are not stored.")
            }
        }
    }

    @Test("R-18: stored tokens are encrypted and bound to their row", arguments: [Kind.oidc, .oauth2])
    func seals(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, .keepingTokens()) { scene in
            let user = try await scene.signIn([:], ["returnRefreshToken": true])
            let database = scene.service.stores.database
            let columns = try await database.query(
                """
                SELECT tokens, refresh_token, profile FROM linked_credentials
                WHERE project = \(scene.service.project.id.rawValue)
                """
            ) { try [$0.next([UInt8].self), $0.next([UInt8].self), $0.next([UInt8].self)] }
            let stored = try #require(columns.first).map { String(decoding: $0, as: UTF8.self) }
            for name in ["oauthAccessToken", "oauthRefreshToken", "oauthIdToken", "email", "displayName"] {
                guard let secret = user[name]?.string else { continue }
                #expect(!stored.contains { $0.contains(secret) }, "\(name)")
            }
            scene.tenant.nextLogin(scene.addGrace())
            let grace = try await scene.signIn()
            let moved = try await database.execute(
                """
                UPDATE linked_credentials l SET tokens = o.tokens, refresh_token = o.refresh_token
                FROM linked_credentials o
                WHERE l.project = \(scene.service.project.id.rawValue) AND o.project = l.project
                    AND l.account = \(grace.localID) AND o.account = \(user.localID)
                """
            )
            #expect(moved == 1)
            let reply = try await scene.providerToken(grace.idToken)
            #expect(reply.status == 500 && reply["oauthAccessToken"] == nil, "\(reply)")
        }
    }

    @Test("a refresh token that rotates is kept, and one that does not come again stays", arguments: [true, false])
    func rotation(_ rotates: Bool) async throws {
        try await ProviderScene.run(.oauth2, .keepingTokens { $0.rotatesRefreshTokens = rotates }) { scene in
            let user = try await scene.signIn()
            for _ in 0..<3 {
                scene.service.clock.advance(by: 3_600)
                let reply = try await scene.providerToken(scene.session(user))
                #expect(try await scene.profileStatus(with: reply["oauthAccessToken"]?.string) == 200, "\(reply)")
            }
            let sent = scene.tenant.requests(.token).compactMap { $0.fields["refresh_token"] }
            #expect(sent.count == 3)
            #expect(Set(sent).count == (rotates ? 3 : 1))
        }
    }

    @Test("a sign-in that brings no refresh token leaves the old one good")
    func laterSignIn() async throws {
        try await ProviderScene.run(.google, .keepingTokens()) { scene in
            let first = try await scene.signIn([:], ["returnRefreshToken": true])
            let refreshToken = try #require(first["oauthRefreshToken"]?.string)
            let second = try await scene.signIn([:], ["returnRefreshToken": true])
            #expect(second["oauthRefreshToken"] == nil)
            let kept = try await scene.providerToken(second.idToken)
            #expect(kept["oauthAccessToken"] == second["oauthAccessToken"])
            scene.service.clock.advance(by: 3_590)
            let reply = try await scene.providerToken(second.idToken)
            reply.expectOK()
            #expect(scene.tenant.requests(.token).last?.fields["refresh_token"] == refreshToken)
        }
    }

    // MARK: Consent and failure

    @Test(
        "R-17: a refresh token that the provider refuses asks for a new consent, there alone, until the next sign-in",
        arguments: renewable
    )
    func consent(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: Double(kind.personality.accessTokenLifetime ?? 0))
            scene.tenant.revokeGrant(of: scene.ada)
            let session = try await scene.session(user)
            for _ in 0..<3 {
                try await scene.providerToken(session).expectRefused("PROVIDER_CONSENT_REQUIRED")
            }
            #expect(scene.tenant.requests(.token).count == 2)
            #expect(try await scene.keptColumns() == 0)
            let events = scene.service.logs.entries.filter { $0.message.description.contains("must consent again") }
            #expect(events.count == 1)
            #expect(events.first?.metadata["account.id"] == user.localID.map { "\($0)" })
            try await scene.service.lookUp(session).expectOK()
            // The provider's clock is the real one.
            scene.service.clock.advance(by: -Double(kind.personality.accessTokenLifetime ?? 0))
            let again = try await scene.signIn()
            again.expectSignedIn(as: user.localID)
            let fresh = try await scene.providerToken(again.idToken)
            #expect(fresh["oauthAccessToken"] == again["oauthAccessToken"], "\(fresh)")
            #expect(scene.tenant.requests(.token).count == 3)
        }
    }

    @Test("R-17: without a refresh token the end of the access token asks for a new consent")
    func noRefreshToken() async throws {
        try await ProviderScene.run(.oauth2, .keepingTokens { $0.refreshTokens = .never }) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_540)
            try await scene.providerToken(user.idToken).expectRefused("PROVIDER_CONSENT_REQUIRED")
            #expect(scene.tenant.requests(.token).count == 1)
        }
    }

    @Test(
        "a provider that is down says so, and nothing is lost",
        arguments: [Kind.oidc, .oauth2],
        [
            FaultCase("503", .status(503), Messages.providerDown),
            FaultCase("429", .status(429), Messages.providerDown),
            FaultCase("reset", .reset, Messages.providerDown),
            FaultCase("an answer that broke off", .resetInBody, Messages.providerDown),
            FaultCase("nonsense", .body(Array("<html>".utf8)), Messages.invalidAnswer),
            FaultCase(
                "a client that is not known any more",
                .answer(.init(401, .json(["error": "invalid_client"]))),
                Messages.clientRejected
            ),
        ]
    )
    func outage(_ kind: Kind, _ test: FaultCase) async throws {
        try await ProviderScene.run(kind, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_590)
            scene.tenant.addFault(test.fault, at: .token)
            try await scene.providerToken(user.idToken).expectRefused(try #require(test.message))
            let reply = try await scene.providerToken(user.idToken)
            #expect(try await scene.profileStatus(with: reply["oauthAccessToken"]?.string) == 200, "\(reply)")
        }
    }

    @Test("an answer for another person is not taken")
    func otherPerson() async throws {
        try await ProviderScene.run(.oidc, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            let stranger = try scene.tenant.mintIDToken(for: scene.addGrace())
            scene.service.clock.advance(by: 3_590)
            scene.tenant.addFault(.members(set: ["id_token": .string(stranger)]), at: .token)
            let reply = try await scene.providerToken(user.idToken)
            #expect(reply.error == Messages.invalidAnswer, "\(reply)")
        }
    }

    // MARK: The end

    @Test(
        "R-50: the linked providers are listed; unlinking one and deletion take the tokens along, also those to come",
        arguments: [false, true]
    )
    func unlinks(_ deletes: Bool) async throws {
        var options = ProviderScene.Options.keepingTokens()
        options.service.settings.keepLastSignInMethod = false
        options.service.settings.recentSignInSeconds = 0
        try await ProviderScene.run(.oidc, options) { scene in
            let user = try await scene.signIn()
            #expect(try await scene.service.lookUp(user.idToken)["users"]?[0]?.providers == ["oidc.acme"])
            #expect(try await scene.keptColumns() == 2)
            scene.service.clock.advance(by: 3_590)
            let gate = TestGate()
            scene.tenant.addFault(.held(gate), at: .token)
            async let late = scene.providerToken(user.idToken)
            await gate.reached()
            let ended = try await scene.service.call(
                deletes ? "accounts:delete" : "accounts:update",
                ["idToken": JSON(user.idToken), "deleteProvider": deletes ? nil : ["oidc.acme"]]
            )
            ended.expectOK()
            #expect(try await scene.rows() == 0)
            gate.open()
            let reply = try await late
            #expect(reply["oauthAccessToken"] == nil && reply.code == "INVALID_PROVIDER_ID", "\(reply)")
            #expect(try await scene.rows() == 0)
        }
    }

    @Test("T-A10: a provider that is switched off hands out nothing, also before a node has heard of it")
    func switchedOff() async throws {
        try await TestService.runPair { first, second in
            let tenant = try await TestProvider.tenant(.genericOAuth2)
            tenant.addClient(redirects: .anyLocal)
            tenant.everyLogin(tenant.addUser(TestUser("ada", email: "ada@example.com")))
            try await first.configure(
                tenant.configuration(as: "oauth.acme", overrides: ["keepTokens": true, "claims": ["subject": ["id"]]])
            )
            let user = try await first.signIn(through: "oauth.acme")
            try await second.stores.configuration.refresh()
            let off = try await second.admin(
                "oauthIdpConfigs/oauth.acme?updateMask=enabled",
                ["enabled": false],
                method: "PATCH",
                version: "v2"
            )
            off.expectOK()
            for node in [first, second] {
                try await node.providerToken("oauth.acme", user.idToken).expectRefused(Messages.providerOff)
            }
        }
    }
}
