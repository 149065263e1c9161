import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

@Suite("Accounts at the console", .database)
struct ConsoleAccountTests {
    private static func link(_ localID: String, _ provider: String, _ id: String, _ service: TestService) async throws {
        let identity: JSON = ["providerId": .string(provider), "rawId": .string(id)]
        let reply = try await service.admin(
            "accounts:update",
            ["localId": .string(localID), "linkProviderUserInfo": identity]
        )
        reply.expectOK()
    }

    @Test("are found by whole address, number, id or provider's id, and no others are")
    func search() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/accounts"
            let empty = try await person.open(root)
            #expect(empty.text.contains("No accounts yet"), "\(empty.text)")
            try await service.configure(
                ProviderConfiguration(provider: "github.com", enabled: true, clientID: "c", clientSecret: nil)
            )
            let odd = "line:U/1~ä"
            for (id, email, phone) in [
                ("ada", "ada@example.com", "+4915550100"), (odd, "odd@example.com", "+4915550101"),
            ] {
                let made = try await service.admin(
                    "accounts",
                    ["localId": .string(id), "email": .string(email), "phoneNumber": .string(phone)]
                )
                made.expectOK()
            }
            try await Self.link("ada", "github.com", "12345", service)
            for (term, found) in [
                ("ada@example.com", "ada"), ("ADA@Example.com", "ada"), ("+4915550100", "ada"),
                ("+49 155 501-00", "ada"), ("ada", "ada"), ("12345", "ada"), ("  ada ", "ada"), (odd, odd),
                ("odd@example.com", odd),
            ] {
                let page = try await person.open(root + "?" + FormFields(pairs: [("q", term)]).text)
                let links = page.text.matches(of: #/<a href="(\/console\/[^"]*\/accounts\/[^"]+)">/#).map {
                    String($0.1)
                }
                #expect(links.count == 1, "\(term): \(page.text)")
                let account = try await person.open(links.first ?? "")
                #expect(account.status == 200 && account.text.contains("<code>\(found)</code>"), "\(term)")
            }
            for term in ["example.com", "grace@example.com", "1234", "ad", "+4915550102"] {
                let page = try await person.open(root + "?" + FormFields(pairs: [("q", term)]).text)
                #expect(page.text.contains("No account matches"), "\(term)")
            }
            let newest = try await person.open(root)
            #expect(newest.text.contains("ada@example.com") && newest.text.contains("odd@example.com"))
        }
    }

    @Test("the newest come first, page by page, each once")
    func pages() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            for number in 1...60 {
                service.clock.advance(by: 1)
                _ = try await service.admin("accounts", ["localId": .string("user-\(100 + number)")])
            }
            let first = try await person.open("/console/\(service.project.id)/accounts")
            let more = try #require(first.text.firstMatch(of: #/href="([^"]*\?after=[^"]+)"/#)).1
            let second = try await person.open(String(more))
            func ids(_ page: Visit) -> [String] {
                page.text.matches(of: #/<code>(user-[0-9]+)<\/code>/#).map { String($0.1) }
            }
            #expect(ids(first) + ids(second) == (1...60).reversed().map { "user-\(100 + $0)" })
            #expect(!second.text.contains("?after="))
            #expect(first.body.count < 100_000)
        }
    }

    @Test("the page of one says what it has, and lost, and what happened to it")
    func account() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            try await Self.link(user.localID ?? "", "github.com", "12345", service)
            let page = try await person.open(person.path(user.localID))
            for text in ["ada@example.com", "Password", "GitHub", "12345", "unverified", "Account created", "127.0.0"] {
                #expect(page.text.contains(text), "\(text): \(page.text)")
            }
            for nothing in ["No second factors are enrolled.", "No sign-in methods were detached"] {
                #expect(page.text.contains(nothing), "\(nothing)")
            }
            #expect(try await person.open(person.path("nobody")).status == 404)
        }
    }

    @Test("each action does what its button says, with who did it and why in the audit log")
    func actions() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            let id = user.localID ?? ""
            try await Self.link(id, "github.com", "12345", service)
            let path = person.path(id)
            func press(_ button: String, _ typed: [String: String] = [:]) async throws -> Visit {
                let page = try await person.open(path)
                let done = try await person.press(button, typed.merging(["reason": "ticket 4711"]) { $1 }, on: page)
                #expect(done.status == 200, "\(button): \(done.text)")
                return done
            }
            _ = try await press("Disable account")
            #expect(try await service.account(id)?["disabled"] == true)
            _ = try await press("Enable account")
            #expect(try await service.account(id)?["disabled"] == false)
            _ = try await press("Remove GitHub")
            #expect(try await service.account(id)?["providerUserInfo"]?.array?.count == 1)
            _ = try await service.signInWithPassword("ada@example.com")
            let sessions = try await person.open(path)
            let button = try #require(sessions.forms.first { $0.value("session") != nil }, "\(sessions.text)")
            let ended = try await person.browser.submit(button, on: sessions)
            #expect(ended.text.contains("Signed out."), "\(ended.text)")
            _ = try await press("Send email")
            let sent = try await service.stores.outbox.waiting("mail", in: Scope(project: service.project.id))
            #expect(sent.count == 1)
            let wrong = try await person.press(
                "Delete account",
                ["confirm": "something else"],
                on: try await person.open(path)
            )
            #expect(wrong.status == 400 && wrong.text.contains("does not match"), "\(wrong.text)")
            #expect(try await service.account(id) != nil)
            let gone = try await press("Delete account", ["confirm": id])
            #expect(gone.heading == "Accounts")
            #expect(try await service.account(id) == nil)

            var query = AuditQuery()
            query.actor = "admin:\(person.id)"
            let entries = try await service.stores.auditLog.page(
                query,
                of: service.project.id,
                after: nil,
                size: 100
            ).changes
            for action in ["ACCOUNT_UPDATED", "CREDENTIAL_UNLINKED", "ACCOUNT_DELETED"] {
                let entry = entries.first { $0.action == action }
                #expect(entry?.reason == "ticket 4711", "\(action): \(entries)")
            }
            #expect(entries.contains { $0.action == "SESSION_REVOKED" }, "\(entries)")
            let audit = try await person.open("/console/\(service.project.id)/audit?actor=admin:\(person.id)")
            #expect(audit.text.contains("Account deleted") && audit.text.contains("ticket 4711"), "\(audit.text)")
        }
    }

    @Test("of two admins who decide at the same time, the second is told, and nothing is written")
    func twoAdmins() async throws {
        try await TestService.runConsole { service in
            let first = try await ConsolePerson.setUp(service)
            let second = try await ConsolePerson.setUp(service, "second@example.com")
            let user = try await service.signUp("ada@example.com")
            let id = user.localID ?? ""
            try await Self.link(id, "github.com", "12345", service)
            let (mine, yours) = (try await first.open(first.path(id)), try await second.open(second.path(id)))
            try await first.press("Remove GitHub", on: mine).expectOK()
            for (button, typed) in [
                ("Disable account", [:]), ("Remove Password", [:]), ("Delete account", ["confirm": id]),
                ("Send email", [:]),
            ] as [(String, [String: String])] {
                let told = try await second.press(button, typed, on: yours)
                #expect(told.status == 409, "\(button): \(told.text)")
                #expect(told.text.contains("the account changed after you opened the page"), "\(told.text)")
                #expect(told.text.contains("Credential unlinked"), "what they changed: \(told.text)")
            }
            let account = try #require(try await service.account(id))
            #expect(account["disabled"] != true && account["passwordHash"] != nil, "\(account)")
            let again = try await second.press("Disable account", on: try await second.open(second.path(id)))
            again.expectOK()
        }
    }

    @Test("passkeys are listed one by one, and removed one by one")
    func passkeys() async throws {
        try await TestService.runConsole({
            $0.settings.passkeys.relyingPartyID = "example.com"
            $0.settings.passkeys.origins = ["https://example.com"]
        }) { service in
            let person = try await ConsolePerson.setUp(service)
            let ada = try await service.signUp("ada@example.com")
            let (kept, _) = try await service.enrollPasskey(ada.idToken)
            // Windows Hello.
            let (removed, _) = try await service.enrollPasskey(ada.idToken) {
                $0.aaguid = [
                    8, 0x98, 0x70, 0x58, 0xca, 0xdc, 0x4b, 0x81, 0xb6, 0xe1, 0x30, 0xde, 0x50, 0xdc, 0xbe, 0x96,
                ]
            }
            let page = try await person.open(person.path(ada.localID))
            #expect(page.text.contains("<bdi>Windows Hello</bdi>") && page.text.contains("<bdi>Unnamed</bdi>"))
            let form = try #require(page.forms.last { $0.value("passkey") != nil })
            #expect(form.value("passkey") == Base64URL.encode(removed.id))
            let told = try await person.press(
                "Remove the passkey",
                ["passkey": Base64URL.encode(removed.id), "reason": "lost"],
                on: page
            )
            #expect(told.text.contains("Sign-in method removed."), "\(told.text)")
            try await service.signIn(with: removed).expectRefused("PASSKEY_ENROLLMENT_NOT_FOUND")
            #expect(try await service.signIn(with: kept).localID == ada.localID)
        }
    }

    @Test("a merge is shown before it is carried out, and not carried out on accounts that changed since")
    func merge() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let ada = try await service.signUp("ada@example.com")
            let grace = try await service.signUp("grace@example.com")
            try await Self.link(grace.localID ?? "", "github.com", "12345", service)
            _ = try await service.admin("accounts:update", ["localId": JSON(ada.localID), "emailVerified": true])
            func preview() async throws -> Visit {
                try await person.press(
                    "Preview merge",
                    ["merged": "grace@example.com"],
                    on: try await person.open(person.path(ada.localID))
                )
            }
            let shown = try await preview()
            #expect(shown.heading == "Merge two accounts", "\(shown.text)")
            #expect(shown.text.contains("GitHub") && shown.text.contains("already has one"), "\(shown.text)")
            #expect(try await service.account(grace.localID) != nil)
            _ = try await service.admin("accounts:update", ["localId": JSON(grace.localID), "displayName": "Grace"])
            let stale = try await person.press("Cancel", on: shown)
            #expect(stale.status == 409, "\(stale.text)")
            let done = try await person.press("Cancel", on: try await preview())
            #expect(done.text.contains("Accounts merged"), "\(done.text)")
            let moved = try await person.open(person.path(grace.localID))
            #expect(
                moved.heading == "ada@example.com" && moved.text.contains("was merged into this one"),
                "\(moved.text)"
            )
            let apart = try await person.press("Undo merge", on: try await person.open(person.path(ada.localID)))
            #expect(apart.text.contains("Merge undone."), "\(apart.text)")
            #expect(!apart.text.contains("Undo merge"), "\(apart.text)")
            #expect(try await service.account(grace.localID)?["email"] == "grace@example.com")
            for other in ["nobody@example.com", "", ada.localID ?? ""] {
                let refused = try await person.press(
                    "Preview merge",
                    ["merged": other.isEmpty ? " " : other],
                    on: try await person.open(person.path(ada.localID))
                )
                #expect(refused.status == 400, "\(other): \(refused.text)")
            }
        }
    }

    @Test("a tenant's accounts are on its own pages, and on no other's")
    func tenants() async throws {
        try await TestService.runConsole {
            $0.settings.allowsTenants = true
        } _: { service in
            let person = try await ConsolePerson.setUp(service)
            let tenant = try await service.makeTenant("acme")
            let path = "tenants/\(tenant)/accounts"
            let account = try await service.admin(path, ["localId": "ada", "email": "ada@example.com"])
            account.expectOK()
            let root = "/console/\(service.project.id)"
            #expect(try await person.open("\(root)/accounts/ada").status == 404)
            let page = try await person.open("\(root)/tenants/\(tenant)/accounts/ada")
            #expect(page.status == 200 && page.heading == "ada@example.com", "\(page.text)")
            let done = try await person.press("Disable account", on: page)
            #expect(done.url.contains("/tenants/\(tenant)/accounts/ada"), "\(done.url)")
            #expect(try await person.open("\(root)/tenants/none/accounts").status == 404)
            #expect(try await person.open("/console").text.contains("/tenants/\(tenant)/overview"))
        }
    }
}
