import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

/// What is of one tenant is nothing in another, in its project, or in another project.
@Suite("Isolation of tenants", .database, .testProvider, .serialized)
struct TenantIsolationTests {
    private static let withIDToken: [(path: String, body: JSON)] = [
        ("accounts:lookup", [:]), ("accounts:update", ["displayName": "Eve"]), ("accounts:delete", [:]),
        ("accounts:signOut", [:]), ("accounts:listSessions", [:]),
        ("accounts:signUp", ["email": "new@example.com", "password": "another horse"]),
        ("accounts:sendOobCode", ["requestType": "VERIFY_EMAIL"]),
        ("accounts:providerToken", ["providerId": "oidc.acme"]),
        ("accounts:credentialState", ["providerId": "oidc.acme"]),
    ]

    /// Another project, with a tenant of the same id as the first one.
    private func withOtherProject(
        _ scene: TenantScene,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.run(LinkingWorld.options { $0.allowsTenants = true }) { other in
            var settings = TenantSettings()
            settings.passwordSignIn = true
            settings.emailLinkSignIn = true
            try await other.stores.configuration.createTenant(
                TenantConfiguration(id: TenantID(rawValue: scene.first), settings: settings),
                in: other.project.id
            )
            try await body(other)
        }
    }

    @Test("T-D1: ID tokens")
    func idTokens() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let user = try await scene.signUp(in: scene.first)
            let own = try await scene.signUp(in: nil)
            for endpoint in Self.withIDToken {
                let body = endpoint.body.merging(["idToken": JSON(user.idToken)])
                try await service.call(endpoint.path, body.merging(["tenantId": .string(scene.second)]))
                    .expectRefused("TENANT_ID_MISMATCH")
                // One of the project itself is of no tenant.
                let ofProject: JSON = ["idToken": JSON(own.idToken), "tenantId": .string(scene.first)]
                try await service.call(endpoint.path, endpoint.body.merging(ofProject))
                    .expectRefused("TENANT_ID_MISMATCH")
            }
            for path in [":createSessionCookie", "tenants/\(scene.second):createSessionCookie"] {
                try await service.admin(path, ["idToken": JSON(user.idToken)]).expectRefused("TENANT_ID_MISMATCH")
            }
            try await withOtherProject(scene) { other in
                for endpoint in Self.withIDToken {
                    let body = endpoint.body.merging(["idToken": JSON(user.idToken)])
                    for tenant in [nil, scene.first] {
                        try await other.call(endpoint.path, body.merging(["tenantId": JSON(tenant)]))
                            .expectRefused("INVALID_ID_TOKEN")
                    }
                }
            }
            #expect(try await service.lookUp(user.idToken)["users"]?[0]?["displayName"] == nil)
            try await service.lookUp(own.idToken).expectOK()
        }
    }

    @Test("T-D1: what an ID token says of its tenant counts once its signature does")
    func forgedTenant() async throws {
        try await TenantScene.run { scene in
            let own = try await scene.signUp(in: nil)
            let parts = try #require(own.idToken).split(separator: ".").map { String($0) }
            let payload = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
            for tenant in [scene.first, "nobody-12345", ""] {
                let firebase = (payload["firebase"] ?? [:]).merging(["tenant": .string(tenant)])
                let forged = Base64URL.encode(Array(payload.merging(["firebase": firebase]).text.utf8))
                try await scene.service.lookUp("\(parts[0]).\(forged).\(parts[2])").expectRefused("INVALID_ID_TOKEN")
            }
            for text in [".", "..", "a.b.c", "e30.e30.e30", "x.\(Base64URL.encode("[]".utf8)).x"] {
                try await scene.service.lookUp(text).expectRefused("INVALID_ID_TOKEN")
            }
        }
    }

    @Test("T-D1: a name that Unicode takes for a tenant's ID is no tenant")
    func equivalentName() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let tenant = try await service.makeTenant("Kunden", TenantScene.everything)
            // The Kelvin sign is canonically equivalent to K, and equal to it in Swift.
            let shadow = "\u{212a}" + tenant.dropFirst()
            #expect(shadow == tenant)
            for (path, body) in Self.withIDToken {
                try await service.call(path, body.merging(["tenantId": .string(shadow)]))
                    .expectRefused("INVALID_TENANT_ID")
            }
            try await scene.signUp(in: shadow).expectRefused("INVALID_TENANT_ID")
            let user = try await scene.signUp(in: tenant)
            try await scene.signIn(in: shadow).expectRefused("INVALID_TENANT_ID")
            let path = "%E2%84%AA" + tenant.dropFirst()
            #expect(try await service.admin("tenants/\(path)/accounts:lookup", ["localId": ["x"]]).status == 404)
            #expect(
                try await service.admin("accounts:lookup", ["localId": ["x"], "tenantId": .string(shadow)]).status
                    == 404
            )
            let both: JSON = ["localId": [JSON(user.localID)], "tenantId": .string(shadow)]
            try await service.admin("tenants/\(tenant)/accounts:lookup", both).expectRefused("TENANT_ID_MISMATCH")
        }
    }

    @Test("T-D1: refresh tokens and session cookies")
    func refreshTokens() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let user = try await scene.signUp(in: scene.first)
            let path = "/v1/token?key=\(service.apiKey)"
            // Whatever the request says of tenants: the token is of its own.
            for name in [scene.second, "nobody-12345"] {
                let body: JSON = [
                    "grant_type": "refresh_token", "refresh_token": JSON(user.refreshToken), "tenantId": .string(name),
                ]
                #expect(try await service.post(path, text: body.text).tenant == scene.first)
            }
            let cookie = try await service.admin(
                "tenants/\(scene.first):createSessionCookie",
                ["idToken": JSON(user.idToken)]
            )
            let text = try #require(cookie["sessionCookie"]?.string, "\(cookie)")
            #expect(Reply.claims(of: text)["firebase"]?["tenant"] == .string(scene.first))
            for tenant in [nil, scene.first, scene.second] {
                try await service.call("accounts:lookup", ["idToken": .string(text), "tenantId": JSON(tenant)])
                    .expectRefused("INVALID_ID_TOKEN")
            }
            try await withOtherProject(scene) { other in
                let reply = try await other.refresh(user.refreshToken)
                #expect(reply.error == "PROJECT_NUMBER_MISMATCH")
            }
            // An account of that id elsewhere is not the session's.
            #expect(
                try await service.admin("tenants/\(scene.first)/accounts:delete", ["localId": JSON(user.localID)])
                    .status == 200
            )
            let again = try await service.admin(
                "tenants/\(scene.second)/accounts",
                ["localId": JSON(user.localID), "email": "ada@example.com"]
            )
            again.expectOK()
            try await service.refresh(user.refreshToken).expectRefused("USER_NOT_FOUND")
            try await service.lookUp(user.idToken).expectRefused("USER_NOT_FOUND")
        }
    }

    @Test("T-D1: codes of mails", arguments: ["PASSWORD_RESET", "EMAIL_SIGNIN", "VERIFY_EMAIL"])
    func mailCodes(_ type: String) async throws {
        try await TenantScene.run({ $0.allowsEmailLink = true }) { scene in
            let service = scene.service
            for tenant in [nil, scene.first, scene.second] { #expect(try await scene.signUp(in: tenant).status == 200) }
            let sent = try await service.admin(
                "tenants/\(scene.first)/accounts:sendOobCode",
                [
                    "requestType": .string(type), "email": "ada@example.com", "returnOobLink": true,
                    "continueUrl": "http://localhost/",
                ]
            )
            let code = try #require(sent["oobCode"]?.string, "\(sent)")
            @Sendable func use(_ tenant: String?, at node: TestService) async throws -> Reply {
                let (path, body): (String, JSON) =
                    switch type {
                    case "PASSWORD_RESET": ("resetPassword", ["newPassword": "another horse"])
                    case "EMAIL_SIGNIN": ("signInWithEmailLink", ["email": "ada@example.com"])
                    default: ("update", [:])
                    }
                let named: JSON = ["oobCode": .string(code), "tenantId": JSON(tenant)]
                return try await node.call("accounts:\(path)", body.merging(named))
            }
            for tenant in [nil, scene.second] {
                try await use(tenant, at: service).expectRefused("INVALID_OOB_CODE")
                let look: JSON = ["oobCode": .string(code), "tenantId": JSON(tenant)]
                try await service.call("accounts:resetPassword", look).expectRefused("INVALID_OOB_CODE")
            }
            try await withOtherProject(scene) { other in
                try await use(scene.first, at: other).expectRefused("INVALID_OOB_CODE")
            }
            let used = try await use(scene.first, at: service)
            used.expectOK()
            #expect(used.idToken == nil || used.tenant == scene.first)
        }
    }

    @Test("T-D1: codes of SMS")
    func smsCodes() async throws {
        try await TenantScene.run { scene in
            let sent = try await scene.service.sendSMS(to: TenantScene.number, ["tenantId": .string(scene.first)])
            let body: JSON = ["sessionInfo": sent["sessionInfo"] ?? .null, "code": "112233"]
            for tenant in [nil, scene.second] {
                try await scene.service.signInByPhone(body.merging(["tenantId": JSON(tenant)]))
                    .expectRefused("INVALID_SESSION_INFO")
            }
            let reply = try await scene.service.signInByPhone(body.merging(["tenantId": .string(scene.first)]))
            #expect(reply.tenant == scene.first, "\(reply)")
        }
    }

    @Test("T-D1: pending credentials and flows")
    func federation() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let ada = scene.world.person(verified: false)
            for tenant in [nil, scene.first, scene.second] { #expect(try await scene.signUp(in: tenant).status == 200) }
            let conflict = try await scene.acme(ada, in: scene.first)
            let pending = try #require(conflict.pendingToken, "\(conflict)")
            for tenant in [nil, scene.second] {
                let reply = try await scene.world.resume(pending, ["tenantId": JSON(tenant)])
                reply.expectRefused("INVALID_PENDING_TOKEN")
                let user = try await scene.signIn(in: tenant)
                try await scene.world.resume(pending, idToken: user.idToken).expectRefused("INVALID_PENDING_TOKEN")
            }
            let user = try await scene.signIn(in: scene.first)
            let resumed = try await scene.world.resume(pending, idToken: user.idToken)
            #expect(resumed.status == 200 && resumed.tenant == scene.first, "\(resumed)")

            scene.world.acme.everyLogin(ada)
            let flow = try await service.startFlow(through: LinkingWorld.acmeID, ["tenantId": .string(scene.first)])
            let visit = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
            for tenant in [nil, scene.second] {
                let reply = try await service.finishFlow(
                    at: visit.url,
                    sessionID: flow.sessionID,
                    ["tenantId": JSON(tenant)]
                )
                #expect(reply.code == "INVALID_IDP_RESPONSE", "\(reply)")
            }
            let reply = try await service.finishFlow(
                at: visit.url,
                sessionID: flow.sessionID,
                ["tenantId": .string(scene.first)]
            )
            #expect(reply.tenant == scene.first && reply.localID == user.localID, "\(reply)")
        }
    }

    @Test("T-D1: sign-ins that wait for a second factor, and custom tokens")
    func secondFactorsAndCustomTokens() async throws {
        try await TenantScene.run({ $0.secondFactors.offersTOTP = true }) { scene in
            let service = scene.service
            let made = try await service.admin(
                "tenants/\(scene.first)/accounts",
                ["email": "ada@example.com", "password": "correct horse", "emailVerified": true]
            )
            let user = try await scene.signIn(in: scene.first)
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            #expect(enrolled.tenant == scene.first)
            let challenge = try await scene.signIn(in: scene.first)
            let pending = try #require(challenge["mfaPendingCredential"]?.string, "\(challenge)")
            service.clock.advance(by: Double(TOTP.period))
            func finish(_ tenant: String?) async throws -> Reply {
                try await service.callV2(
                    "accounts/mfaSignIn:finalize",
                    [
                        "mfaPendingCredential": .string(pending), "mfaEnrollmentId": .string(app.enrollment),
                        "totpVerificationInfo": ["verificationCode": .string(app.code())], "tenantId": JSON(tenant),
                    ]
                )
            }
            for tenant in [nil, scene.second] {
                try await finish(tenant).expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            }
            let signedIn = try await finish(scene.first)
            #expect(signedIn.tenant == scene.first, "\(signedIn)")

            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            var payload = account.payload(uid: try #require(made.localID), at: service.clock.seconds)
            payload["tenant_id"] = .string(scene.second)
            let token = try account.sign(payload)
            for tenant in [nil, scene.first] {
                try await service.call(
                    "accounts:signInWithCustomToken",
                    ["token": .string(token), "tenantId": JSON(tenant)]
                ).expectRefused("TENANT_ID_MISMATCH")
            }
            // An ID that somebody of another tenant has opens an account of its own.
            let opened = try await service.call(
                "accounts:signInWithCustomToken",
                ["token": .string(token), "tenantId": .string(scene.second), "returnSecureToken": true]
            )
            #expect(opened.tenant == scene.second && opened["isNewUser"] == true, "\(opened)")
            #expect(try await scene.account(made.localID, in: scene.second)?["email"] == nil)
        }
    }

    @Test("T-B19: one issuer in two tenants and the project: the same subject and address are three people")
    func sameIssuer() async throws {
        try await TenantScene.run { scene in
            let places = [nil, scene.first, scene.second]
            var people: [String?: String] = [:]
            for place in places {
                let reply = try await scene.acme(scene.world.person(), in: place)
                #expect(reply["isNewUser"] == true && reply.tenant == place, "\(reply)")
                people[place] = reply.localID
            }
            #expect(Set(people.values).count == 3)
            for place in places {
                let again = try await scene.acme(scene.world.person(), in: place)
                again.expectSignedIn(as: people[place])
                let prefix = place.map { "tenants/\($0)/" } ?? ""
                let found = try await scene.service.admin(
                    "\(prefix)accounts:lookup",
                    ["federatedUserId": [["providerId": "oidc.acme", "rawId": "R"]], "email": ["ada@example.com"]]
                )
                #expect(found["users"]?.array?.map { $0["localId"]?.string } == [people[place]], "\(found)")
            }
            // What happens to one of them is nothing to the others.
            let gone = try await scene.service.admin(
                "tenants/\(scene.second)/accounts:delete",
                ["localId": JSON(people[scene.second])]
            )
            gone.expectOK()
            #expect(try await scene.acme(scene.world.person(), in: scene.second)["isNewUser"] == true)
            try await scene.acme(scene.world.person(), in: scene.first)
                .expectSignedIn(as: people[scene.first])
        }
    }

    @Test("T-B19: a provider added by a tenant's admin signs in no user of another tenant, whatever it asserts")
    func providerOfATenant() async throws {
        try await TenantScene.run { scene in
            let victim = try await scene.signUp(in: scene.first)
            let rogue = try await TestProvider.tenant(.genericOIDC, name: "rogue")
            rogue.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            let scope = Scope(project: scene.service.project.id, tenant: TenantID(rawValue: scene.second))
            let configuration = rogue.configuration(as: "oidc.rogue")
            try await scene.service.stores.configuration.createProvider(configuration, in: scope)
            let person = rogue.addUser(TestUser("R", email: "ada@example.com", emailVerified: true, name: "Eve"))
            let postBody = "id_token=\(try rogue.mintIDToken(for: person))&providerId=oidc.rogue"
            for tenant in [nil, scene.first] {
                let reply = try await scene.service.signInWithIdP(postBody: postBody, ["tenantId": JSON(tenant)])
                #expect(reply.code == "OPERATION_NOT_ALLOWED", "\(reply)")
            }
            let own = try await scene.service.signInWithIdP(postBody: postBody, ["tenantId": .string(scene.second)])
            #expect(own.tenant == scene.second && own.localID != victim.localID, "\(own)")
            let account = try await scene.account(victim.localID, in: scene.first)
            #expect(account?["emailVerified"] == false && account?.providers == ["password"])
            try await scene.service.refresh(victim.refreshToken).expectOK()
        }
    }
}
