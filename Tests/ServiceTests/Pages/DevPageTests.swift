import Development
import Foundation
import IdentityService
import Projects
import Storage
import TestKit
import Testing

/// `/dev`, the page of what `identity dev` holds.
@Suite("The page of identity dev", .database)
struct DevPageTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options, body)
    }

    private func page(_ service: TestService, _ query: String = "") async throws -> PlainResponse {
        try await service.send("GET", "/dev\(query)").response
    }

    @Test("shows accounts, mails and codes as they come and go")
    func showsWhatIsThere() async throws {
        try await run { service in
            let empty = try await page(service)
            #expect(empty.status == 200 && empty.header("content-type") == "text/html; charset=utf-8")
            #expect(empty.text.contains("0 accounts, 0 emails, 0 SMS in \(service.project.id)"))
            #expect(empty.text.contains("No accounts yet."))

            let ada = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(ada.idToken)])
            _ = try await service.call("accounts:sendVerificationCode", ["phoneNumber": "+491701234567"])
            let full = try await page(service).text
            #expect(full.contains("1 account, 1 email, 1 SMS in \(service.project.id)"))
            #expect(full.contains("<bdi>ada@example.com</bdi>") && full.contains(ada.localID ?? "?"))
            #expect(full.contains("unverified"))
            let base = "/emulator/v1/projects/\(service.project.id)"
            let sms = try await service.send("GET", "\(base)/verificationCodes")["verificationCodes"]?[0]
            #expect(full.contains(#"<code class="digits">\#(sms?["code"]?.string ?? "?")</code>"#))
            let code = try #require(
                try await service.send("GET", "\(base)/oobCodes")["oobCodes"]?[0]?["oobCode"]?.string
            )
            #expect(full.contains("<code>\(code)</code>"))
            // Its link asks before it does anything.
            let link = try #require(full.firstMatch(of: #/href="(\/__\/auth\/action\?[^"]+)"/#)?.1)
            let asked = try await service.send("GET", String(link).replacing("&amp;", with: "&"))
            #expect(asked.status == 200 && asked.response.text.contains("Confirm your email address"), "\(asked)")

            _ = try await service.call("accounts:update", ["oobCode": .string(code)])
            let after = try await page(service).text
            #expect(after.contains("1 account, 0 emails, 1 SMS") && !after.contains("unverified"))
        }
    }

    @Test("has nothing that came from outside but as text, and runs no script but its own")
    func escapes() async throws {
        try await run { service in
            let hostile = #"</bdi></script><img src=x onerror="alert(1)">'&"#
            _ = try await service.admin("accounts", ["localId": .string("<b>id</b>"), "displayName": .string(hostile)])
            let page = try await page(service)
            #expect(
                page.text.contains(
                    "&lt;/bdi&gt;&lt;/script&gt;&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;"
                )
            )
            #expect(page.text.contains("<code>&lt;b&gt;id&lt;/b&gt;</code>"))
            #expect(!page.text.contains("<img") && !page.text.contains("<b>id"))
            let policy = try #require(page.header("content-security-policy"))
            let nonce = try #require(policy.firstMatch(of: #/script-src 'nonce-([^']+)';/#)?.1)
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            #expect(page.text.contains("<script nonce=\"\(nonce)\">"))
            #expect(page.text.matches(of: #/<script/#).count == 1)
            #expect(page.header("cache-control") == "no-store")
            #expect(try await self.page(service).header("content-security-policy") != policy)
        }
    }

    @Test(
        "is of the project that the address names; of none, it says so",
        arguments: [
            "nothing-here", "%3Cscript%3E", "a&project=b", "",
        ]
    )
    func otherProjects(_ name: String) async throws {
        try await run { service in
            let page = try await page(service, "?project=\(name)")
            #expect(page.status == 404 && page.text.contains("This project does not exist."), "\(page.status)")
            #expect(page.text.contains(#"href="/dev?project=\#(service.project.id)""#))
            #expect(!page.text.contains("<script>"))
            let other = try #require(ProjectID(rawValue: "other-" + String(service.project.id.rawValue.suffix(12))))
            try await service.stores.configuration.createProject(other, settings: .development)
            let shown = try await self.page(service, "?project=\(other)")
            #expect(shown.status == 200 && shown.text.contains("0 accounts, 0 emails, 0 SMS in \(other)"))
        }
    }

    @Test("is not there in production")
    func notInProduction() async throws {
        try await TestService.run { service in
            let reply = try await PlainHTTP.send("GET", service.baseURL + "/dev")
            #expect(reply.status == 404)
        }
    }
}
