import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Audit log", .database, .testProvider, .serialized)
struct AuditLogTests {
    /// An account's entries, the oldest first.
    private func entries(_ service: TestService, _ parameters: String) async throws -> [JSON] {
        let reply = try await service.admin("auditEntries?\(parameters)")
        reply.expectOK()
        return (reply["auditEntries"]?.array ?? []).reversed()
    }

    @Test("an account's entries tell its life: who, what, when, from where and why")
    func life() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let id = try #require(user.localID)
            service.clock.advance(by: 1)
            _ = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 1)
            _ = try await service.call("accounts:update", ["idToken": JSON(user.idToken), "displayName": "Ada"])
            service.clock.advance(by: 1)
            let disabled = try await service.send(
                "POST",
                "/v1/projects/\(service.project.id)/accounts:update",
                headers: [
                    ("Authorization", "Bearer \(service.adminToken)"), ("Content-Type", "application/json"),
                    ("X-Goog-Request-Reason", "ticket 4711"),
                ],
                body: Array(#"{"localId":"\#(id)","disableUser":true,"validSince":"\#(service.clock.seconds)"}"#.utf8)
            )
            disabled.expectOK()
            service.clock.advance(by: 1)
            _ = try await service.admin("accounts:delete", ["localId": JSON(id)])

            let entries = try await entries(service, "localId=\(id)")
            let actions = entries.map { $0["action"]?.string }
            #expect(
                actions
                    == ["ACCOUNT_CREATED", "SIGNED_IN", "ACCOUNT_UPDATED", "ACCOUNT_UPDATED", "ACCOUNT_DELETED"]
            )
            guard entries.count == 5 else { return }
            #expect(entries.map { $0["actor"]?.string ?? "" }.prefix(3) == ["account", "account", "account"])
            let admin = try #require(entries[3]["actor"]?.string)
            #expect(admin.hasPrefix("admin:") && service.adminToken.contains(admin.dropFirst(6)))
            #expect(entries[2]["changes"]?.array == ["displayName"])
            #expect(entries[3]["changes"]?.array == ["disabled", "validSince", "sessions"])
            #expect(entries.map { $0["reason"]?.string } == [nil, nil, nil, "ticket 4711", nil])
            #expect(entries[1]["providerId"] == "password" && entries[0]["resource"] != entries[1]["resource"])
            #expect(entries.allSatisfy { $0["addressPrefix"]?.string == "127.0.0.0/24" })
            #expect(entries[3]["requestId"]?.string == disabled.response.header("x-request-id"))
            #expect(entries[0]["operation"] == "POST /v1/accounts:signUp")
            #expect(entries[3]["operation"] == "POST /v1/projects/{project}/accounts:update")
            let times = entries.compactMap { $0["recordedAt"]?.string }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let dates = try times.map { try Date($0, strategy: style) }
            #expect(dates.map { service.clock.current.timeIntervalSince($0) } == [4, 3, 2, 1, 0], "\(times)")
        }
    }

    @Test("entries hold no value that was set: no address, number, name, password, token or secret")
    func holdsNoValues() async throws {
        try await TestService.run { service in
            try await service.configure(
                ProviderConfiguration(provider: .google, enabled: true, clientID: "app-xyzzy")
            )
            _ = try await service.admin(
                "oauthIdpConfigs/oidc.secret",
                ["clientId": "client-xyzzy", "clientSecret": "hush-xyzzy", "issuer": "https://xyzzy.example.com"],
                method: "PATCH",
                version: "v2"
            )
            let user = try await service.signUp("adaxyzzy@example.com", "horse-xyzzy")
            let id = try #require(user.localID)
            _ = try await service.admin(
                "accounts:update",
                [
                    "localId": JSON(id), "phoneNumber": "+14155554321", "displayName": "Ada xyzzy",
                    "customAttributes": "{\"role\":\"rxyzzy\"}", "email": "gracexyzzy@example.com",
                    "password": "other-xyzzy",
                ]
            )
            let text = try await TestDatabase.current.client.query("SELECT a::text FROM audit_log a") {
                try $0.next(String.self)
            }.joined(separator: "\n")
            #expect(text.contains(id) && text.contains("phoneNumber") && text.contains("customAttributes"))
            // Nothing shorter: a few digits stand in some random id or other.
            for value in ["xyzzy", "4155554321"] { #expect(!text.contains(value), "\(text)") }
        }
    }

    @Test("a refresh token that is used again, and a sign-out, name the session that ended and why")
    func endedSessions() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let first = try await service.signUp("ada@example.com")
            let id = try #require(first.localID)
            let second = try await service.refresh(first.refreshToken)
            service.clock.advance(by: 61)
            _ = try await service.refresh(second.refreshToken)
            service.clock.advance(by: 61)
            #expect(try await service.refresh(first.refreshToken).status == 400)
            let stolen = try await entries(service, "localId=\(id)&action=SESSION_REVOKED")
            #expect(stolen.map { $0["resource"]?.string } == [first.claims["firebase"]?["sid"]?.string])
            #expect(stolen.first?["actor"] == "service" && stolen.first?["reason"] == "REFRESH_TOKEN_REUSED")
            service.clock.advance(by: 1)
            let again = try await service.signInWithPassword("ada@example.com")
            _ = try await service.call("accounts:signOut", ["idToken": JSON(again.idToken), "scope": "all"])
            let ended = try await entries(service, "localId=\(id)&action=SESSION_REVOKED")
            #expect(ended.count == 2 && ended.last?["resource"]?.string == again.claims["firebase"]?["sid"]?.string)
            #expect(ended.last?["actor"] == "account" && ended.last?["reason"] == nil)
        }
    }

    @Test("a conflict and its resolution are there, and what a provider asks for names the provider")
    func providers() async throws {
        try await ProviderScene.run(.facebook) { scene in
            let reply = try await scene.signIn()
            let id = try #require(reply.localID)
            scene.service.clock.advance(by: 10)
            try await scene.facebook().expectOK()
            let withdrawn = try await entries(scene.service, "localId=\(id)&action=CONSENT_WITHDRAWN")
            #expect(withdrawn.map { $0["actor"]?.string } == ["provider:facebook.com"], "\(withdrawn)")
            #expect(withdrawn.first?["providerId"] == "facebook.com")
        }
        try await LinkingWorld.run { world in
            _ = try await world.account([
                "email": "ada@example.com", "password": "correct horse", "emailVerified": true,
            ])
            let conflict = try await world.github(world.githubPerson())
            let found = try await entries(world.service, "action=CONFLICT_FOUND")
            #expect(found.map { $0["providerId"]?.string } == ["github.com"], "\(found)")
            let user = try await world.service.signInWithPassword("ada@example.com")
            let resumed = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            resumed.expectOK()
            let linked = try await entries(world.service, "action=CREDENTIAL_LINKED")
            #expect(linked.map { $0["changes"]?.array ?? [] } == [["pendingToken"]], "\(linked)")
        }
    }

    @Test(
        "an admin's access to a user's secrets is recorded: email links, hashes, session cookies, provider tokens"
    )
    func secretsOfUsers() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            for body: JSON in [
                ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true],
                ["requestType": "VERIFY_EMAIL", "email": "ada@example.com"],
            ] {
                let sent = try await service.admin("accounts:sendOobCode", body)
                sent.expectOK()
            }
            let links = try await entries(service, "action=LINK_ISSUED")
            #expect(links.map { $0["localId"]?.string } == [user.localID])
            #expect(links.first?["changes"]?.array == ["PASSWORD_RESET"])
            #expect(links.first?["actor"]?.string?.hasPrefix("admin:") == true, "\(links)")

            let cookie = try await service.admin(":createSessionCookie", ["idToken": JSON(user.idToken)])
            cookie.expectOK()
            let cookies = try await entries(service, "action=SESSION_COOKIE_CREATED")
            #expect(cookies.map { $0["localId"]?.string } == [user.localID])

            try await service.admin("accounts:batchGet?maxResults=5").expectOK()
            let exports = try await entries(service, "action=ACCOUNTS_EXPORTED")
            #expect(exports.count == 1 && exports.first?["actor"]?.string?.hasPrefix("admin:") == true, "\(exports)")

            let linked = try await world.keepingTokens()
            let token = try await service.admin(
                "accounts:providerToken",
                ["localId": JSON(linked.localID), "providerId": "oidc.acme"]
            )
            token.expectOK()
            let read = try await entries(service, "action=PROVIDER_TOKEN_READ")
            #expect(read.map { $0["localId"]?.string } == [linked.localID])
            #expect(read.first?["providerId"] == "oidc.acme")
        }
    }

    @Test("a credential that may only read accounts gets no hash, and leaves no entry of an export")
    func reading() async throws {
        try await TestService.run { service in
            _ = try await service.signUp("ada@example.com")
            let reader = try await service.stores.configuration.createAdminCredential(
                name: "reader",
                project: service.project.id,
                scopes: [.readAccounts],
                expiresAt: nil
            ).token
            let reply = try await service.send(
                "GET",
                "/v1/projects/\(service.project.id)/accounts:batchGet",
                headers: [("Authorization", "Bearer \(reader.reveal())")]
            )
            #expect(reply["users"]?.array?.count == 1, "\(reply)")
            #expect(try await entries(service, "action=ACCOUNTS_EXPORTED").isEmpty)
        }
    }

    @Test("changes by the emulator's routes are recorded for its owner, and only actual changes")
    func emulator() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let config = "/emulator/v1/projects/\(service.project.id)/config"
            for body in [
                #"{"signIn":{"allowDuplicateEmails":true},"emailPrivacyConfig":{"enableImprovedEmailPrivacy":false}}"#,
                #"{"signIn":{"allowDuplicateEmails":true}}"#,
            ] {
                let reply = try await service.send("PATCH", config, body: Array(body.utf8))
                #expect(reply["signIn"]?["allowDuplicateEmails"] == true, "\(reply)")
            }
            let changed = try await entries(service, "action=SETTINGS_CHANGED")
            #expect(changed.map { $0["changes"]?.array ?? [] } == [["signIn.allowDuplicateEmails"]], "\(changed)")
            #expect(changed.first?["actor"] == "admin:owner", "\(changed)")
        }
    }

    @Test("settings, providers, tenants and keys leave entries with the names of what changed")
    func configuration() async throws {
        try await TestService.run { service in
            _ = try await service.admin(
                "config?updateMask=client.permissions.disabledUserDeletion,identity.linking,multiTenant.allowTenants",
                [
                    "client": ["permissions": ["disabledUserDeletion": true]], "identity": ["linking": "auto"],
                    "multiTenant": ["allowTenants": true],
                ],
                method: "PATCH",
                version: "v2"
            )
            let changed = try await entries(service, "action=SETTINGS_CHANGED")
            // Linking was automatic before.
            #expect(
                changed.last?["changes"]?.array?.compactMap(\.string)
                    == ["client.permissions.disabledUserDeletion", "multiTenant.allowTenants"],
                "\(changed)"
            )
            let tenant = try await service.admin("tenants", ["displayName": "customers"], version: "v2")
            let name = try #require(tenant["name"]?.string?.split(separator: "/").last.map { String($0) })
            let own = try await entries(service, "action=TENANT_CREATED")
            #expect(own.map { $0["tenantId"]?.string } == [name])
        }
    }

    @Test("pages go on where they left off, in every filter; those of a tenant hold that tenant's alone")
    func pages() async throws {
        try await TestService.run { service in
            _ = try await service.admin(
                "config?updateMask=multiTenant.allowTenants",
                ["multiTenant": ["allowTenants": true]],
                method: "PATCH",
                version: "v2"
            )
            let tenant = try await service.admin(
                "tenants",
                ["displayName": "customers", "allowPasswordSignup": true],
                version: "v2"
            )
            let name = try #require(tenant["name"]?.string?.split(separator: "/").last.map { String($0) })
            // All of them at the same moment.
            for number in 0..<7 { _ = try await service.signUp("user\(number)@example.com") }
            let body: JSON = ["tenantId": JSON(name), "email": "ada@example.com", "password": "correct horse"]
            let inTenant = try await service.call("accounts:signUp", body)
            inTenant.expectOK()
            var seen: [String] = []
            var token = ""
            repeat {
                let page = try await service.admin("auditEntries?action=ACCOUNT_CREATED&pageSize=3\(token)")
                let ids = (page["auditEntries"]?.array ?? []).compactMap { $0["entryId"]?.string }
                #expect(ids.count <= 3)
                seen += ids
                token = page["nextPageToken"]?.string.map { "&pageToken=\($0)" } ?? ""
            } while !token.isEmpty && seen.count < 100
            #expect(seen.count == 8 && Set(seen).count == 8, "\(seen)")
            let own = try await service.admin("tenants/\(name)/auditEntries?action=ACCOUNT_CREATED")
            #expect((own["auditEntries"]?.array ?? []).map { $0["localId"]?.string } == [inTenant.localID])
            let since = try await service.admin("auditEntries?since=2100-01-01T00:00:00Z")
            #expect(since["auditEntries"]?.array?.isEmpty == true && since["nextPageToken"] == nil)
            for bad in ["since=yesterday", "action=signed_in", "pageToken=AAAA", "pageSize=-1", "until=2026"] {
                let reply = try await service.admin("auditEntries?\(bad)")
                #expect(reply.status == 400, "\(bad): \(reply)")
            }
        }
    }

    @Test("a filter reads 10,000 entries for a page and says where the next one goes on")
    func filtered() async throws {
        try await TestService.run { service in
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO audit_log (project, recorded_at, tenant, account, action, actor)
                SELECT \(service.project.id.rawValue), '2026-01-01'::timestamptz + n * interval '1 second', '',
                    'a' || n, CASE WHEN n = 5 THEN 'ACCOUNT_DELETED' ELSE 'SIGNED_IN' END, 'account'
                FROM generate_series(1, 25000) n
                """
            )
            var token = ""
            var pages = 0
            var found: [String] = []
            repeat {
                let page = try await service.admin("auditEntries?action=ACCOUNT_DELETED\(token)")
                found += (page["auditEntries"]?.array ?? []).compactMap { $0["localId"]?.string }
                token = page["nextPageToken"]?.string.map { "&pageToken=\($0)" } ?? ""
                pages += 1
            } while !token.isEmpty && pages < 10
            #expect(found == ["a5"] && pages == 3, "\(found), \(pages)")
        }
    }
}
