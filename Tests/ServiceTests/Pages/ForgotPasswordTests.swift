import Projects
import Storage
import TestKit
import Testing
import Text

extension TestService {
    /// What a browser gets that posts the page's form.
    func forgot(_ email: String, _ more: [(String, String)] = []) async throws -> Reply {
        try await send(
            "POST",
            "/__/auth/forgot-password",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(FormFields(pairs: [("apiKey", apiKey), ("email", email)] + more).text.utf8)
        )
    }

    fileprivate func changePassword(at host: String? = nil) async throws -> Reply {
        try await send("GET", "/.well-known/change-password", headers: host.map { [("Host", $0)] } ?? [])
    }
}

@Suite("The page for forgotten passwords", .database)
struct ForgotPasswordTests {
    @Test("T-E1: sends the reset email, whose link sets a password, and says the same without an account")
    func sends() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            let page = try await service.send("GET", "/__/auth/forgot-password?apiKey=\(service.apiKey)&lang=de")
            #expect(page.status == 200 && page.response.text.contains(#"<html lang="de""#), "\(page)")
            let sent = try await service.forgot(" ada@example.com ")
            sent.expectOK()
            let code = try await service.mail(.passwordReset, to: "ada@example.com").code
            try await service.reset(code, to: "another horse").expectOK()
            let unknown = try await service.forgot("eda@example.com")
            unknown.expectOK()
            let words = { (reply: Reply) in reply.response.text.replacing(/nonce="[^"]*"/, with: "") }
            #expect(words(unknown) == words(sent).replacing("ada@", with: "eda@"))
        }
    }

    @Test("what cannot be sent is said in the form, and what is no page of the project has none")
    func refuses() async throws {
        try await MailScene.run { service in
            for address in ["", "nobody", "a@b@c"] {
                let reply = try await service.forgot(address)
                #expect(reply.status == 400 && reply.response.text.contains(#"role="alert""#), "\(reply)")
            }
            for path in ["", "?apiKey=none", "?apiKey=\(service.apiKey)&tenantId=none"] {
                let reply = try await service.send("GET", "/__/auth/forgot-password" + path)
                #expect(reply.status == 400 && reply.response.text.contains("<h1>"), "\(reply)")
            }
            _ = try await service.admin(
                "config?updateMask=signIn.email.enabled",
                ["signIn": ["email": ["enabled": false]]],
                method: "PATCH",
                version: "v2"
            )
            let reply = try await service.send("GET", "/__/auth/forgot-password?apiKey=\(service.apiKey)")
            #expect(reply.status == 400 && !reply.response.text.contains("<form"), "\(reply)")
        }
    }

    @Test("password managers find it at the project's own host, or the page of its settings; nowhere else")
    func wellKnown() async throws {
        var options = TestService.Options()
        options.settings.publicURL = PublicURL("https://own.example.com")
        try await TestService.run(options) { service in
            let reply = try await service.changePassword(at: "own.example.com")
            #expect(reply.status == 302, "\(reply)")
            #expect(reply.response.header("location") == "/__/auth/forgot-password?apiKey=\(service.apiKey)")
            let page = try await service.send(
                "GET",
                reply.response.header("location") ?? "",
                headers: [("Host", "own.example.com")]
            )
            page.expectOK()
            // The service's host is none's where there are several projects.
            let neighbour = try #require(ProjectID(rawValue: "neighbour-\(service.project.number)"))
            try await service.stores.configuration.createProject(neighbour, settings: ProjectSettings())
            #expect(try await service.changePassword().status == 404)
            #expect(try await service.changePassword(at: "other.example.com").status == 404)
            let url: JSON = "https://own.example.com/account/password?from=manager"
            let set = try await service.admin(
                "config?updateMask=identity.changePasswordURL",
                ["identity": ["changePasswordURL": url]],
                method: "PATCH",
                version: "v2"
            )
            set.expectOK()
            let own = try await service.changePassword(at: "own.example.com")
            #expect(own.response.header("location").map { JSON.string($0) } == url, "\(own)")
            for bad in ["/password", "http://own.example.com/", "javascript:alert(1)", "myapp://password"] {
                let refused = try await service.admin(
                    "config?updateMask=identity.changePasswordURL",
                    ["identity": ["changePasswordURL": .string(bad)]],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(refused.code == "INVALID_CONFIG", "\(refused)")
            }
            _ = try await service.admin(
                "config?updateMask=signIn.email.enabled",
                ["signIn": ["email": ["enabled": false]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(try await service.changePassword(at: "own.example.com").status == 404)
        }
    }
}
