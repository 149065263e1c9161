import Delivery
import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

/// What apps and admins do in a tenant.
@Suite("Accounts of tenants", .database, .testProvider, .serialized)
struct TenantAccountTests {
    // MARK: Apps

    @Test("an account's whole life: `tenantId` opens it, its ID token is enough from then on")
    func wholeLife() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let user = try await scene.signUp(in: scene.first)
            #expect(user.status == 200 && user.tenant == scene.first, "\(user)")
            let shown = try await service.lookUp(user.idToken)
            #expect(shown["users"]?[0]?["tenantId"] == .string(scene.first), "\(shown)")
            let refreshed = try await service.refresh(user.refreshToken)
            #expect(refreshed.status == 200 && refreshed.tenant == scene.first, "\(refreshed)")
            let named = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "displayName": "Ada"]
            )
            #expect(named["displayName"] == "Ada", "\(named)")
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another horse", "tenantId": .string(scene.first)]
            )
            #expect(changed.tenant == scene.first, "\(changed)")
            let sessions = try await service.call("accounts:listSessions", ["idToken": JSON(changed.idToken)])
            #expect(sessions["sessions"]?.array?.count == 1, "\(sessions)")
            let linked = try await scene.acme(scene.world.person(), in: nil, idToken: changed.idToken)
            #expect(linked["tenantId"] == .string(scene.first) && linked.tenant == scene.first, "\(linked)")
            let deleted = try await service.call("accounts:delete", ["idToken": JSON(linked.idToken)])
            deleted.expectOK()
            #expect(try await scene.account(user.localID, in: scene.first) == nil)
        }
    }

    @Test("the same person, address and number are separate accounts in each tenant and in the project")
    func accountsAreApart() async throws {
        try await TenantScene.run { scene in
            let places = [nil, scene.first, scene.second]
            var ids: Set<String> = []
            for place in places {
                let user = try await scene.signUp(in: place)
                user.expectOK()
                let guest = try await scene.service.call(
                    "accounts:signUp",
                    ["tenantId": JSON(place), "returnSecureToken": true]
                )
                for reply in [user, guest] { ids.insert(try #require(reply.localID, "\(reply)")) }
            }
            for place in places {
                let again = try await scene.signUp(in: place)
                again.expectRefused("EMAIL_EXISTS")
                ids.insert(try #require(try await scene.signIn(in: place).localID))
            }
            for tenant in [scene.first, scene.second] {
                let session = try await scene.service.sendSMS(
                    to: TenantScene.number,
                    ["tenantId": .string(tenant)]
                )
                let reply = try await scene.service.signInByPhone(
                    ["sessionInfo": session["sessionInfo"] ?? .null, "code": "112233", "tenantId": .string(tenant)]
                )
                #expect(reply["isNewUser"] == true && reply.tenant == tenant, "\(reply)")
                ids.insert(try #require(reply.localID))
            }
            #expect(ids.count == 8)
        }
    }

    @Test("a tenant's own settings decide, and the project's do not")
    func settingsDecide() async throws {
        try await LinkingWorld.run({
            $0.allowsTenants = true
            $0.allowsEmailLink = true
            $0.anonymousSignIn = true
        }) { world in
            let service = world.service
            let id = try await service.makeTenant("Northwind")
            let tenant: JSON = ["tenantId": .string(id)]
            let password: JSON = ["email": "ada@example.com", "password": "correct horse"]
            let link: JSON = ["email": "ada@example.com", "continueUrl": "http://localhost/"]
            func answers() async throws -> [String?] {
                [
                    try await service.call("accounts:signUp", password.merging(tenant)).code,
                    try await service.call("accounts:signInWithPassword", password.merging(tenant)).code,
                    try await service.call("accounts:signUp", tenant).code,
                    try await service.sendCode(.emailSignIn, link.merging(tenant)).code,
                    try await world.acme(world.person(), tenant).code,
                ]
            }
            #expect(
                try await answers() == [
                    "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED", "ADMIN_ONLY_OPERATION", "OPERATION_NOT_ALLOWED",
                    "OPERATION_NOT_ALLOWED",
                ]
            )
            // Each by itself.
            #expect(
                try await service.updateTenant(id, mask: "enableEmailLinkSignin", ["enableEmailLinkSignin": true])
                    .status == 200
            )
            #expect(
                try await answers() == [
                    "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED", "ADMIN_ONLY_OPERATION", nil,
                    "OPERATION_NOT_ALLOWED",
                ]
            )
            #expect(
                try await service.updateTenant(
                    id,
                    mask: "allowPasswordSignup,passwordPolicyConfig",
                    [
                        "allowPasswordSignup": true,
                        "passwordPolicyConfig": [
                            "passwordPolicyEnforcementState": "ENFORCE",
                            "passwordPolicyVersions": [["customStrengthOptions": ["minPasswordLength": 20]]],
                        ],
                    ]
                ).status == 200
            )
            #expect(try await answers()[0] == "PASSWORD_DOES_NOT_MEET_REQUIREMENTS")
            let policy = try await service.send("GET", "/v2/passwordPolicy?key=\(service.apiKey)&tenantId=\(id)")
            #expect(policy["customStrengthOptions"]?["minPasswordLength"] == 20, "\(policy)")
            let own = try await service.send("GET", "/v2/passwordPolicy?key=\(service.apiKey)")
            #expect(own["customStrengthOptions"]?["minPasswordLength"] == 6, "\(own)")
            let closed: JSON = ["client": ["permissions": ["disabledUserSignup": true]], "allowPasswordSignup": true]
            try await service.updateTenant(id, closed).expectOK()
            #expect(try await answers()[0] == "ADMIN_ONLY_OPERATION")
            try await service.signUp("ada@example.com").expectOK()
        }
    }

    @Test("a tenant that is switched off lets nobody in, out or on; its configuration can still be mended")
    func disabled() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let user = try await scene.signUp(in: scene.first)
            let off = try await service.updateTenant(scene.first, mask: "disableAuth", ["disableAuth": true])
            #expect(off["disableAuth"] == true, "\(off)")
            for reply in [
                try await scene.signUp("grace@example.com", in: scene.first), try await scene.signIn(in: scene.first),
                try await service.lookUp(user.idToken), try await service.refresh(user.refreshToken),
                try await service.sendCode(
                    .passwordReset,
                    ["email": "ada@example.com", "tenantId": .string(scene.first)]
                ),
                try await service.admin("tenants/\(scene.first)/accounts:lookup", ["localId": [JSON(user.localID)]]),
                try await service.admin("tenants/\(scene.first)/accounts", ["email": "eve@example.com"]),
                try await service.admin("tenants/\(scene.first)/accounts:batchGet"),
            ] { reply.expectRefused("PROJECT_DISABLED") }
            try await service.admin("tenants/\(scene.first)/oauthIdpConfigs", version: "v2").expectOK()
            try await scene.signUp(in: scene.second).expectOK()
            #expect(try await service.updateTenant(scene.first, mask: "disableAuth", [:])["disableAuth"] == nil)
            try await service.lookUp(user.idToken).expectOK()
        }
    }

    @Test("an unknown tenant is refused: INVALID_TENANT_ID for clients, TENANT_NOT_FOUND for admins")
    func unknown() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            for name in ["nobody-12345", "..", " ", scene.first.uppercased()] {
                let tenant: JSON = ["tenantId": .string(name)]
                for operation in ["signUp", "signInWithPassword", "createAuthUri", "resetPassword", "lookup"] {
                    try await service.call("accounts:\(operation)", tenant).expectRefused("INVALID_TENANT_ID")
                }
                let admin = try await service.admin("accounts:lookup", tenant.merging(["localId": ["x"]]))
                #expect(admin.status == 404 && admin.error == "TENANT_NOT_FOUND", "\(admin)")
            }
            let reply = try await service.admin("tenants/nobody-12345/accounts:lookup", ["localId": ["x"]])
            #expect(reply.status == 404 && reply.error == "TENANT_NOT_FOUND", "\(reply)")
            let empty = try await service.call("accounts:signUp", ["tenantId": "", "returnSecureToken": true])
            #expect(empty.status == 200 && empty.tenant == nil, "\(empty)")
        }
    }

    // MARK: Admins

    @Test("each operation of admins is one of the tenant's own accounts, by its path or by `tenantId`")
    func admins() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            for (number, tenant) in [scene.first, scene.second].enumerated() {
                let path = number == 0 ? "tenants/\(tenant)/" : ""
                let named: JSON = number == 0 ? [:] : ["tenantId": .string(tenant)]
                func admin(_ operation: String, _ body: JSON) async throws -> Reply {
                    try await service.admin(path + operation, body.merging(named))
                }
                let made = try await admin(
                    "accounts",
                    ["localId": .string("ada-\(number)"), "email": "ada@example.com", "password": "correct horse"]
                )
                made.expectOK()
                let id = made.localID
                let found = try await admin("accounts:lookup", ["email": ["ada@example.com"]])
                #expect(found["users"]?[0]?["localId"] == JSON(id) && found["users"]?.array?.count == 1, "\(found)")
                #expect(found["users"]?[0]?["tenantId"] == .string(tenant))
                let changed = try await admin("accounts:update", ["localId": JSON(id), "displayName": "Ada"])
                #expect(changed["displayName"] == "Ada", "\(changed)")
                let user = try await scene.signIn(in: tenant)
                #expect(user.claims["name"] == "Ada" && user.tenant == tenant, "\(user)")
                let sent = try await admin(
                    "accounts:sendOobCode",
                    ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true]
                )
                #expect(sent["oobLink"]?.string?.contains("tenantId=\(tenant)") == true, "\(sent)")
                let cookie = try await service.admin(
                    number == 0 ? "tenants/\(tenant):createSessionCookie" : ":createSessionCookie",
                    named.merging(["idToken": JSON(user.idToken)])
                )
                let claims = try #require(cookie["sessionCookie"]?.string.map { Reply.claims(of: $0) }, "\(cookie)")
                #expect(claims["firebase"]?["tenant"] == .string(tenant))
                let uploaded = try await admin(
                    "accounts:batchCreate",
                    [
                        "users": [
                            ["localId": .string("grace-\(number)"), "tenantId": .string(tenant)],
                            ["localId": .string("eve-\(number)"), "tenantId": "another"],
                        ]
                    ]
                )
                #expect(uploaded["error"]?.array?.map { $0["index"] } == [1], "\(uploaded)")
                let page = try await service.admin(
                    number == 0 ? "\(path)accounts:batchGet" : "accounts:batchGet?tenantId=\(tenant)"
                )
                let ids = page["users"]?.array?.compactMap { $0["localId"]?.string }
                #expect(ids == ["ada-\(number)", "grace-\(number)"], "\(page)")
                let deleted = try await admin(
                    "accounts:batchDelete",
                    ["localIds": ["ada-0", "ada-1", "grace-0", "grace-1"], "force": true]
                )
                #expect(deleted.json == [:], "\(deleted)")
                #expect(try await scene.account("ada-\(number)", in: tenant) == nil)
            }
        }
    }

    @Test("T-D1: who asks in a tenant finds its accounts alone, and counts them alone")
    func queries() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            for tenant in [nil, scene.first, scene.second] {
                try await scene.signUp(in: tenant).expectOK()
            }
            let ofFirst = try #require(try await scene.signIn(in: scene.first).localID)
            let path = "tenants/\(scene.first)/accounts:query"
            for body: JSON in [[:], ["expression": [["email": "ada@example.com"]]], ["pageSize": 5]] {
                let found = try await service.admin(path, body)
                #expect(found["userInfo"]?.array?.map { $0["localId"]?.string } == [ofFirst], "\(found)")
                #expect(found["userInfo"]?[0]?["tenantId"]?.string == scene.first)
            }
            let named = try await service.admin(
                "accounts:query",
                ["tenantId": .string(scene.first), "returnUserInfo": false]
            )
            #expect(named["recordsCount"] == "1", "\(named)")
            let whole = try await service.admin("accounts:query", [:])
            #expect(whole["userInfo"]?.array?.count == 1 && whole["userInfo"]?[0]?["tenantId"] == nil, "\(whole)")
            let page = try await service.admin(path, ["pageSize": 1])
            let token = try #require(page["nextPageToken"])
            let other = try await service.admin(
                "tenants/\(scene.second)/accounts:query",
                ["pageSize": 1, "pageToken": token]
            )
            #expect(other.error == "INVALID_PAGE_SELECTION", "\(other)")
            let counts = try await service.admin("tenants/\(scene.first)/providers:stats")
            let passwords = counts["providers"]?.array?.first { $0["providerId"] == "password" }
            #expect(passwords?["accounts"] == "1", "\(counts)")
        }
    }

    @Test("what the body says of the tenant must not be another than the path's")
    func mismatch() async throws {
        try await TenantScene.run { scene in
            let body: JSON = ["localId": ["x"], "tenantId": .string(scene.second)]
            try await scene.service.admin("tenants/\(scene.first)/accounts:lookup", body)
                .expectRefused("TENANT_ID_MISMATCH")
            let query = "tenants/\(scene.first)/accounts:batchGet?tenantId=\(scene.second)"
            try await scene.service.admin(query).expectRefused("TENANT_ID_MISMATCH")
            let same = body.merging(["tenantId": .string(scene.first)])
            try await scene.service.admin("tenants/\(scene.first)/accounts:lookup", same).expectOK()
            // Even for tenants that do not exist.
            try await scene.service.admin("tenants/nobody/accounts:lookup", body).expectRefused("TENANT_ID_MISMATCH")
        }
    }

    @Test("each tenant, and the project itself, may have an account of the same ID; none is the other")
    func idsAreOfTheirTenant() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let places = ["accounts", "tenants/\(scene.first)/accounts", "tenants/\(scene.second)/accounts"]
            for (number, path) in places.enumerated() {
                let made = try await service.admin(
                    path,
                    ["localId": "ada", "email": .string("ada\(number)@example.com"), "password": "correct horse"]
                )
                made.expectOK()
                #expect(try await service.admin(path, ["localId": "ada"]).code == "DUPLICATE_LOCAL_ID")
            }
            let uploaded = try await service.admin(
                places[1] + ":batchCreate",
                ["users": [["localId": "ada", "email": "eve@example.com"]], "allowOverwrite": true]
            )
            #expect(uploaded["error"] == nil, "\(uploaded)")
            let updated = try await service.admin(places[2] + ":update", ["localId": "ada", "displayName": "Ada"])
            updated.expectOK()
            var found: [JSON?] = []
            for path in places {
                found.append(try await service.admin("\(path):lookup", ["localId": ["ada"]])["users"]?[0])
            }
            #expect(found.map { $0?["email"]?.string } == ["ada0@example.com", "eve@example.com", "ada2@example.com"])
            #expect(found.map { $0?["displayName"]?.string } == [nil, nil, "Ada"])
            #expect(try await service.admin(places[1] + ":delete", ["localId": "ada"]).status == 200)
            for path in [places[0], places[2]] {
                #expect(try await service.admin("\(path):lookup", ["localId": ["ada"]])["users"]?[0] != nil)
            }
        }
    }

    @Test("webhooks say whose tenant an account is")
    func webhooks() async throws {
        try await TenantScene.run({
            $0.delivery.webhook = WebhookEndpoint(
                url: "https://hook.example",
                types: [.accountCreated, .accountDeleted],
                secrets: [Secret("x")]
            )
        }) { scene in
            for place in [nil, scene.first] {
                let user = try await scene.signUp(in: place)
                let deleted = try await scene.service.call("accounts:delete", ["idToken": JSON(user.idToken)])
                deleted.expectOK()
                let scope = Scope(project: scene.service.project.id, tenant: TenantID(rawValue: place ?? ""))
                let waiting = try await scene.service.stores.outbox.waiting(WebhookNotice.kind, in: scope)
                let notices = try waiting.map { try JSON(parsing: $0)["data"] }
                #expect(notices.count == 2)
                for notice in notices { #expect(notice?["tenantId"] == place.map { .string($0) }) }
            }
        }
    }

    // MARK: Providers and pages

    @Test("a tenant's providers are its own: configured, listed and named there")
    func providers() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let path = "tenants/\(scene.first)/defaultSupportedIdpConfigs"
            let made = try await service.admin(
                "\(path)?idpId=google.com",
                ["enabled": true, "clientId": "tenant's", "clientSecret": "s"],
                version: "v2"
            )
            let place = "projects/\(service.project.number)/tenants/\(scene.first)"
            #expect(made["name"] == .string("\(place)/defaultSupportedIdpConfigs/google.com"), "\(made)")
            #expect(try await service.admin(path, version: "v2")["defaultSupportedIdpConfigs"]?.array?.count == 1)
            let other = "tenants/\(scene.second)/defaultSupportedIdpConfigs"
            #expect(try await service.admin(other, version: "v2").json == ["defaultSupportedIdpConfigs": []])
            let project = try await service.admin("defaultSupportedIdpConfigs/google.com", version: "v2")
            #expect(project["clientId"] == "client", "\(project)")
            func start(_ tenant: String?) async throws -> Reply {
                try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": "google.com", "continueUri": "http://localhost/", "tenantId": JSON(tenant)]
                )
            }
            #expect(try await start(scene.first)["authUri"]?.string?.contains("client_id=tenant") == true)
            #expect(try await start(scene.second).code == "OPERATION_NOT_ALLOWED")
            #expect(try await start(nil)["authUri"]?.string?.contains("client_id=client") == true)
        }
    }

    @Test("the handler page signs in to the tenant that `tid` names, and says so to the SDK")
    func handlerPage() async throws {
        var options = ProviderScene.Options()
        options.service.ownPages = true
        options.service.settings.allowsTenants = true
        try await ProviderScene.run(.oidc, options) { scene in
            let service = scene.service
            let id = try await service.makeTenant("Northwind")
            // Of the project alone.
            let refused = try await scene.open(scene.parameters() + [("tid", id)])
            #expect(refused.event?["error"]?["code"] == "auth/operation-not-allowed", "\(refused.reply)")
            try await service.stores.configuration.createProvider(
                scene.tenant.configuration(as: scene.provider),
                in: Scope(project: service.project.id, tenant: TenantID(rawValue: id))
            )
            let result = try await scene.result(scene.parameters() + [("tid", id)])
            let event = try #require(result.event, "\(result.reply)")
            #expect(event["tenantId"] == .string(id), "\(event)")
            let elsewhere = try await scene.signIn(with: event)
            #expect(elsewhere.code == "INVALID_IDP_RESPONSE", "\(elsewhere)")
            let reply = try await service.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": event["urlResponse"] ?? .null, "sessionId": event["sessionId"] ?? .null,
                    "returnSecureToken": true, "tenantId": event["tenantId"] ?? .null,
                ]
            )
            #expect(reply.tenant == id && reply["tenantId"] == .string(id), "\(reply)")
        }
    }

    @Test("the link of a tenant's mail opens the page, whose button does it in the tenant")
    func actionPage() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let user = try await scene.signUp(in: scene.first)
            _ = try await scene.signUp(in: nil)
            let sent = try await service.admin(
                "tenants/\(scene.first)/accounts:sendOobCode",
                ["requestType": "VERIFY_EMAIL", "email": "ada@example.com", "returnOobLink": true]
            )
            let link = try #require(sent["oobLink"]?.string, "\(sent)")
            let query = try #require(URLComponents(string: link)?.percentEncodedQuery)
            let items = (URLComponents(string: link)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
            #expect(items.contains { $0 == ("tenantId", scene.first) }, "\(link)")
            // The admin's link has no key of an app's.
            let key = items.contains { $0.0 == "apiKey" && !$0.1.isEmpty } ? "" : "&apiKey=\(service.apiKey)"
            let page = try await service.send("GET", "/__/auth/action?\(query)\(key)")
            #expect(page.status == 200 && page.text.contains("name=\"tenantId\" value=\"\(scene.first)\""), "\(page)")
            let elsewhere = query.replacing("tenantId=\(scene.first)", with: "tenantId=\(scene.second)")
            #expect(try await service.send("GET", "/__/auth/action?\(elsewhere)\(key)").status == 400)
            let done = try await service.send(
                "POST",
                "/__/auth/action",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array((query + key).utf8)
            )
            done.expectOK()
            #expect(try await scene.account(user.localID, in: scene.first)?["emailVerified"] == true)
            #expect(
                try await service.admin("accounts:lookup", ["email": ["ada@example.com"]])["users"]?[0]?[
                    "emailVerified"
                ] == false
            )
        }
    }
}
