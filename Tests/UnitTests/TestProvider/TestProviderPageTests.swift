import Development
import Foundation
import TestKit
import Testing
import Text

/// The page on which a person chooses, used by a browser without scripts.
@Suite(.testProvider)
struct TestProviderPageTests {
    private func tenant() async throws -> (TestTenant, ReferenceClient) {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addUser(TestUser("1", email: "ada@example.com", name: "Ada <Lovelace>"))
        tenant.addUser(TestUser("2", email: "grace@example.com", emailVerified: false, name: "Grace Hopper"))
        return (tenant, ReferenceClient(tenant: tenant).registered())
    }

    private func claims(_ visit: Visit, _ client: ReferenceClient) async throws -> [String: Any] {
        let tokens = try await client.exchange(try #require(visit.query["code"])).json()
        let parts = try #require(tokens["id_token"] as? String).split(separator: ".")
        return try #require(ReferenceVerifier.object(parts[1]))
    }

    @Test func listsThePeopleAndGoesBackWithTheOneChosen() async throws {
        let (tenant, client) = try await tenant()
        let browser = ScriptedBrowser()
        let page = try await client.authorize(browser)
        page.expectOK()
        #expect(page.text.contains("Ada &lt;Lovelace&gt;"))
        #expect(page.header("content-security-policy")?.contains("default-src 'none'") == true)
        #expect(page.header("content-security-policy")?.contains("form-action 'self' http://localhost ") == true)
        let form = try #require(page.form(with: "Grace Hopper"))
        #expect(form.text.contains("not verified"))
        let visit = try await browser.submit(form, on: page, until: [client.redirectURI])
        #expect(visit.query["state"] == "the-state")
        #expect(try await claims(visit, client)["sub"] as? String == "2")
        #expect(tenant.violations.isEmpty)
    }

    @Test func takesAnotherAccountAndKnowsItNextTime() async throws {
        let (tenant, client) = try await tenant()
        let browser = ScriptedBrowser()
        var subjects: Set<String> = []
        for _ in 1...2 {
            let page = try await client.authorize(browser)
            let form = try #require(page.form(with: "The email is verified"))
            let typed = [
                "email": "new+one@example.com", "name": "New Person", "photo_url": "https://example.com/new.png",
                "verified": "",
            ]
            let visit = try await browser.submit(form, typed, on: page, until: [client.redirectURI])
            let claims = try await claims(visit, client)
            #expect(claims["email"] as? String == "new+one@example.com")
            #expect(claims["name"] as? String == "New Person")
            #expect(claims["picture"] as? String == "https://example.com/new.png")
            #expect(claims["email_verified"] as? Bool == false)
            subjects.insert(try #require(claims["sub"] as? String))
        }
        #expect(subjects.count == 1)
        #expect(tenant.violations.isEmpty)
        #expect(try await client.authorize(browser).form(with: "New Person") != nil)
    }

    @Test func makesUpAnAccountThatCanBePickedAfterwards() async throws {
        let (tenant, client) = try await tenant()
        let browser = ScriptedBrowser()
        var emails: Set<String> = []
        for _ in 1...2 {
            let page = try await client.authorize(browser)
            let form = try #require(page.form(with: "Auto-generate user information"))
            let visit = try await browser.submit(form, on: page, until: [client.redirectURI])
            let claims = try await claims(visit, client)
            #expect(claims["email_verified"] as? Bool == true)
            let name = try #require(claims["name"] as? String)
            emails.insert(try #require(claims["email"] as? String))
            #expect(try await client.authorize(browser).form(with: name) != nil)
        }
        #expect(emails.count == 2)
        #expect(tenant.violations.isEmpty)
    }

    @Test(
        "scripts for the emulator's widget find its elements",
        arguments: [
            "add-account-button", "autogen-button", "main-form", "email-input", "display-name-input",
            "screen-name-input",
            "profile-photo-input", "sign-in",
        ]
    )
    func hasTheElementsOfTheEmulator(id: String) async throws {
        let (_, client) = try await tenant()
        #expect(try await client.authorize().text.contains(#"id="\#(id)""#))
    }

    @Test func cancelGoesBackWithoutAnAccount() async throws {
        let (_, client) = try await tenant()
        let browser = ScriptedBrowser()
        let page = try await client.authorize(browser)
        let form = try #require(page.form(with: "Cancel"))
        let visit = try await browser.submit(form, on: page, until: [client.redirectURI])
        #expect(visit.query["error"] == "access_denied")
    }

    @Test func aPostWithAChoiceNeedsNoPage() async throws {
        let (_, client) = try await tenant()
        let parts = client.authorizationURL.split(separator: "?", maxSplits: 1)
        let fields = FormFields(String(parts[1])).pairs.map { ($0.name, $0.value) }
        let answer = try await PlainHTTP.post(
            String(parts[0]),
            form: fields + [("choice", "user"), ("subject", "1")]
        )
        #expect(answer.status == 303)
        #expect(answer.header("location")?.hasPrefix("http://localhost/callback?code=") == true)
    }
}
