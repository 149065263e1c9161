import Delivery
import Foundation
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// `identity.publicURL`: a project with a host of its own.
@Suite("The URL of a project", .database, .testProvider)
struct ProjectURLTests {
    /// Another origin than that of ``TestService/baseURL``, on which the same service answers.
    private static func ownURL(_ service: TestService) -> String {
        service.baseURL.replacing("127.0.0.1", with: "localhost")
    }

    private static func set(_ url: String, in service: TestService, token: String? = nil) async throws -> Reply {
        try await set("publicURL", .string(url), in: service, token: token)
    }

    private static func set(
        _ name: String,
        _ value: JSON,
        in service: TestService,
        token: String? = nil
    ) async throws -> Reply {
        let body: JSON = ["identity": [name: value]]
        return try await service.send(
            "PATCH",
            "/v2/projects/\(service.project.id)/config?updateMask=identity.\(name)",
            headers: [
                ("Authorization", "Bearer \(token ?? service.adminToken)"), ("Content-Type", "application/json"),
            ],
            body: Array(body.text.utf8)
        )
    }

    private static func options() -> TestService.Options {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.tokenIssuer = .own
        options.settings.signInPage = true
        options.settings.oauth.isEnabled = true
        return options
    }

    @Test("begins its issuer, links and callback; what was issued before stays valid")
    func startsAddresses() async throws {
        try await TestService.run(Self.options()) { service in
            let (id, own) = (service.project.id, Self.ownURL(service))
            let before = try await service.signUp("ada@example.com")
            #expect(before.claims["iss"]?.string == "\(service.baseURL)/\(id)")
            let changed = try await Self.set(own.uppercased() + "/", in: service)
            #expect(changed["identity"]?["publicURL"]?.string == own, "\(changed)")

            try await service.lookUp(before.idToken).expectOK()
            let after = try await service.signInWithPassword("ada@example.com")
            #expect(after.claims["iss"]?.string == "\(own)/\(id)")
            try await service.lookUp(after.idToken).expectOK()
            for host in [own, service.baseURL] {
                let path = "/\(id)/.well-known/openid-configuration"
                let document = Reply(try await PlainHTTP.send("GET", host + path))
                #expect(document["issuer"]?.string == "\(own)/\(id)")
                #expect(document["authorization_endpoint"]?.string == "\(own)/\(id)/oauth/authorize")
                #expect(document["jwks_uri"]?.string?.hasPrefix("\(own)/") == true)
            }

            try await service.sendCode(.passwordReset, ["email": "ada@example.com"]).expectOK()
            let mail = try await service.mail(.passwordReset, to: "ada@example.com")
            #expect(mail.mail.link.hasPrefix("\(own)/__/auth/action?"))
            let page = try await ScriptedBrowser().open(mail.mail.link)
            #expect(page.status == 200 && page.forms.count == 1, "\(page.text)")

            #expect(try await Self.set("", in: service)["identity"]?["publicURL"] == nil)
            #expect(try await service.refresh(after.refreshToken).claims["iss"]?.string == "\(service.baseURL)/\(id)")
        }
    }

    @Test(
        "is where a browser that began there comes back to from a provider, and so is the service's own",
        arguments: [true, false]
    )
    func callback(isOwn: Bool) async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let own = Self.ownURL(scene.service)
            try await Self.set(own, in: scene.service).expectOK()
            let host = isOwn ? own : scene.service.baseURL
            let query = FormFields(pairs: scene.parameters()).text
            let page = try await PlainHTTP.send("GET", "\(host)\(ProviderScene.handler)?\(query)")
            let opened = try OpenedPage(Reply(page))
            let url = try #require(opened.data["url"]?.string, "\(page.text)")
            let redirect = URLParts(url).flatMap { FormFields($0.query ?? "")["redirect_uri"] }
            #expect(redirect == host + ProviderScene.handler)
            let visit = try await ScriptedBrowser().open(url, until: [host + "/"])
            let back = try await PlainHTTP.send("GET", visit.url, headers: [("Cookie", opened.cookie ?? "")])
            let event = try OpenedPage(Reply(back)).event
            #expect(event?["urlResponse"]?.string == visit.url)
            let signedIn = try await scene.signIn(with: event)
            signedIn.expectOK()
        }
    }

    @Test("a URL of an app is where its browsers come back to from a provider; links and issuer stay")
    func appURL() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let app = Self.ownURL(scene.service)
            let urls: JSON = ["https://app.example.com", .string(app.uppercased() + "/")]
            let set = try await Self.set("appURLs", urls, in: scene.service)
            #expect(set["identity"]?["appURLs"] == ["https://app.example.com", .string(app)], "\(set)")
            let query = FormFields(pairs: scene.parameters()).text
            let page = try await PlainHTTP.send("GET", "\(app)\(ProviderScene.handler)?\(query)")
            let opened = try OpenedPage(Reply(page))
            let url = try #require(opened.data["url"]?.string, "\(page.text)")
            #expect(URLParts(url).flatMap { FormFields($0.query ?? "")["redirect_uri"] } == app + ProviderScene.handler)
            let visit = try await ScriptedBrowser().open(url, until: [app + "/"])
            let back = try await PlainHTTP.send("GET", visit.url, headers: [("Cookie", opened.cookie ?? "")])
            let signedIn = try await scene.signIn(with: try OpenedPage(Reply(back)).event)
            signedIn.expectOK()
            #expect(signedIn.claims["iss"]?.string?.contains(app) == false)
            // The host is this project's, with no console.
            #expect(try await PlainHTTP.send("GET", app + "/console").status == 404)
            let other = Reply(try await PlainHTTP.send("GET", "\(app)/__/firebase/init.json"))
            #expect(other["projectId"]?.string == "\(scene.service.project.id)", "\(other)")
        }
    }

    @Test("T-D33: an admin of a project sets an app's URL only after its host named this project, and nothing else")
    func provedAppURLs() async throws {
        try await WebReceiver.run { host in
            try await TestService.run(Self.options()) { service in
                let (_, token) = try await service.stores.configuration.createAdminCredential(
                    name: "project",
                    project: service.project.id,
                    scopes: [.manageConfiguration],
                    expiresAt: nil
                )
                let says = "\(service.baseURL)/\(service.project.id)"
                let urls: JSON = [.string(host.baseURL)]
                let bad: [(Int, String)] = [
                    (404, ""), (200, ""), (200, "\(service.baseURL)/other-project"), (200, "\(service.project.id)"),
                    (200, "\(says)\n\(service.baseURL)/other-project"), (200, "<p>\(says)</p>"), (204, says),
                    (302, says),
                    (200, says + String(repeating: " ", count: 5_000)),
                ]
                for (status, body) in bad {
                    host.answer { _ in (status, body) }
                    let reply = try await Self.set("appURLs", urls, in: service, token: token.reveal())
                    #expect(reply.status == 400 && reply.code == "INVALID_CONFIG", "\(status) \(body): \(reply)")
                    #expect(reply.error?.contains("\(host.baseURL)/.well-known/identity-project says \(says)") == true)
                }
                // The service's own host says nothing of the kind, so it is nobody's.
                let own = try await Self.set(
                    "appURLs",
                    [.string(Self.ownURL(service))],
                    in: service,
                    token: token.reveal()
                )
                #expect(own.code == "INVALID_CONFIG", "\(own)")

                host.answer { request in
                    (request.path == "/.well-known/identity-project" ? 200 : 404, says + "\n")
                }
                let taken = try await Self.set("appURLs", urls, in: service, token: token.reveal())
                #expect(taken["identity"]?["appURLs"] == urls, "\(taken)")
                // What is there stays without being asked again; what is read can be written.
                host.answer { _ in (404, "") }
                let again = try await Self.set("appURLs", urls, in: service, token: token.reveal())
                again.expectOK()

                // A second project that the host names gets it only once the first has given it up.
                try await TestService.run(Self.options()) { other in
                    let (_, token) = try await other.stores.configuration.createAdminCredential(
                        name: "project",
                        project: other.project.id,
                        scopes: [.manageConfiguration],
                        expiresAt: nil
                    )
                    host.answer { _ in (200, "\(other.baseURL)/\(other.project.id)") }
                    let refused = try await Self.set("appURLs", urls, in: other, token: token.reveal())
                    #expect(refused.error?.contains("another project's") == true, "\(refused)")
                    try await Self.set("appURLs", [], in: service).expectOK()
                    try await other.stores.configuration.refresh()
                    let given = try await Self.set("appURLs", urls, in: other, token: token.reveal())
                    given.expectOK()
                }
                for url in [
                    "app.example.com", "https://app.example.com/path", "http://app.example.com",
                    "https://*.example.com",
                ] {
                    let reply = try await Self.set("appURLs", [.string(url)], in: service)
                    #expect(reply.code == "INVALID_CONFIG", "\(url): \(reply)")
                }
            }
        }
    }

    @Test("is where other applications sign in")
    func applications() async throws {
        try await OAuthScene.run { scene in
            var scene = scene
            scene.publicURL = Self.ownURL(scene.service)
            try await Self.set(Self.ownURL(scene.service), in: scene.service).expectOK()
            let answer = try await scene.authorize()
            #expect(answer.query["iss"] == scene.issuer, "\(answer)")
            let tokens = try await scene.redeem(answer.query["code"])
            tokens.expectOK()
            #expect(Reply.claims(of: tokens["id_token"]?.string ?? "")["iss"]?.string == scene.issuer)
            // Neither the page nor the session is at the service's own host.
            let own = Self.ownURL(scene.service) + "/"
            #expect(answer.hops.allSatisfy { $0.url.hasPrefix(own) }, "\(answer.hops.map(\.url))")
            #expect(scene.browser.cookies(at: scene.service.baseURL) == nil)
        }
    }

    @Test("T-D33: shows the pages of this project alone, and no console; the service's URL shows those of all")
    func pagesOfOthers() async throws {
        try await TestService.run(Self.options()) { service in
            let own = Self.ownURL(service)
            let configuration = service.stores.configuration
            let name = "other-\(service.project.id)".prefix(30)
            let other = try await configuration.createProject(
                try #require(ProjectID(rawValue: String(name))),
                settings: Self.options().settings
            )
            let key = try await configuration.createAPIKey(for: other.id, displayName: nil)
            try await Self.set(own, in: service).expectOK()

            func pages(_ project: ProjectID, _ key: String) -> [(path: String, isThere: (Answer) -> Bool)] {
                let challenge = String(repeating: "A", count: 43)
                let visit = "continueUrl=http%3A%2F%2Flocalhost%2F&codeChallenge=\(challenge)&codeChallengeMethod=S256"
                return [
                    ("/__/auth/iframe?apiKey=\(key)&appName=a", { $0.text.contains("id=\"data\"") }),
                    ("/__/auth/sign-in?apiKey=\(key)&\(visit)", { $0.status == 200 }),
                    // The key is looked at before the code.
                    (
                        "/__/auth/action?apiKey=\(key)&mode=verifyEmail&oobCode=x",
                        { !$0.text.contains("This link is incomplete") }
                    ),
                    ("/__/firebase/init.json?apiKey=\(key)", { $0.status == 200 }),
                    ("/\(project)/.well-known/openid-configuration", { $0.status == 200 }),
                    ("/.well-known/oauth-authorization-server/\(project)", { $0.status == 200 }),
                    ("/\(project)/oauth/device", { $0.status == 200 }),
                    ("/\(project)/oauth/grants", { $0.status != 404 }),
                ]
            }
            let spellings = [
                own, own.replacing("localhost", with: "LOCALHOST"), own.replacing("localhost", with: "localhost."),
            ]
            for (path, isThere) in pages(other.id, key.rawValue) {
                #expect(isThere(try await Answer(PlainHTTP.send("GET", service.baseURL + path))), "\(path)")
                for host in spellings.prefix(2) {
                    let answer = try await Answer(PlainHTTP.send("GET", host + path))
                    #expect(!isThere(answer), "\(host)\(path): \(answer.status) \(answer.text.prefix(300))")
                }
                // As a browser spells it that resolves the name from the root.
                let authority = String(spellings[2].dropFirst("http://".count))
                #expect(!isThere(try await Answer(host: authority, path, at: service)), "\(path)")
            }
            for (path, isThere) in pages(service.project.id, service.apiKey) {
                for host in [own, service.baseURL] {
                    let answer = try await Answer(PlainHTTP.send("GET", host + path))
                    #expect(isThere(answer), "\(host)\(path): \(answer.status) \(answer.text.prefix(300))")
                }
            }
            let only = Reply(try await PlainHTTP.send("GET", "\(own)/__/firebase/init.json"))
            #expect(only["projectId"]?.string == "\(service.project.id)", "\(only)")
            for path in ["/console", "/console/sign-in", "/console/set-up"] {
                #expect(try await PlainHTTP.send("GET", own + path).status == 404, "\(path)")
                #expect(try await PlainHTTP.send("GET", service.baseURL + path).status != 404, "\(path)")
            }
        }
    }

    private struct Answer {
        let status: Int
        let text: String

        init(_ response: PlainResponse) { (status, text) = (response.status, response.text) }

        /// To a `Host` that the usual clients do not write.
        init(host: String, _ path: String, at service: TestService) async throws {
            let port = try #require(URLParts(service.baseURL)?.port)
            text = try await RawConnection.open(port: port) { connection in
                try await connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                return try await connection.readAll()
            }
            status = try #require(Int(text.split(separator: " ")[1]))
        }
    }

    @Test("T-D33: is given by admins of the whole service, to one project, and is not the service's own")
    func given() async throws {
        try await TestService.run(Self.options()) { service in
            let own = "https://login-\(service.project.id).example.com"
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "project",
                project: service.project.id,
                scopes: [.manageConfiguration],
                expiresAt: nil
            )
            let refused = try await Self.set(own, in: service, token: token.reveal())
            #expect(refused.status == 403, "\(refused)")
            for url in [
                service.baseURL, "http://login.example.com", "https://", "login.example.com", "\(own)/path",
                "\(own)?a=b",
                "\(own)#a", "https://a@login.example.com", "javascript:alert(1)", "https://login.example.com:0",
                "https://login.example.com\\@evil.example.com", "https://[::2]",
            ] {
                let reply = try await Self.set(url, in: service)
                #expect(reply.status == 400 && reply.error?.hasPrefix("INVALID_CONFIG") == true, "\(url): \(reply)")
            }
            try await Self.set(own, in: service).expectOK()
            // What another admin of the project changes leaves it as it is.
            let kept = try await service.send(
                "PATCH",
                "/v2/projects/\(service.project.id)/config?updateMask=identity.appName",
                headers: [("Authorization", "Bearer \(token.reveal())"), ("Content-Type", "application/json")],
                body: Array(#"{"identity":{"appName":"Tea"}}"#.utf8)
            )
            #expect(kept["identity"]?["publicURL"]?.string == own, "\(kept)")
            try await TestService.run(Self.options()) { other in
                let taken = try await Self.set(own + ":443", in: other)
                #expect(taken.error == "INVALID_CONFIG : identity.publicURL is another project's.", "\(taken)")
            }
        }
    }

    @Test("T-D33: is no audience of assertions: whoever moves the host elsewhere gets nothing that is good here")
    func assertions() async throws {
        try await TestService.run(Self.options()) { service in
            let own = Self.ownURL(service)
            try await Self.set(own, in: service).expectOK()
            let account = try await TestServiceAccount.register(
                in: service.project.id,
                scopes: [.readAccounts],
                service.stores.configuration
            )
            for (host, audience, isGood) in [
                (service.baseURL, service.baseURL, true), (own, own, false), (own, service.baseURL, false),
                (service.baseURL, own, false),
            ] {
                var payload = account.payload(uid: "", at: service.clock.seconds)
                payload["uid"] = nil
                payload["aud"] = .string("\(audience)/token")
                payload["scope"] = "https://www.googleapis.com/auth/cloud-platform"
                let assertion = try account.sign(payload)
                let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
                let reply = try await PlainHTTP.post(
                    "\(host)/token",
                    form: [("grant_type", grant), ("assertion", assertion)]
                )
                #expect(reply.status == (isGood ? 200 : 400), "\(host), \(audience): \(reply.text)")
                // The same for a token that is itself the bearer (AIP-4111), whatever host it is sent to.
                payload["aud"] = .string("\(audience)/")
                payload["scope"] = nil
                let bearer = try account.sign(payload)
                let read = try await service.send(
                    "GET",
                    "/v1/projects/\(service.project.id)/accounts:batchGet",
                    headers: [("Authorization", "Bearer \(bearer)")]
                )
                #expect(read.status == (audience == own ? 401 : 200), "\(audience): \(read)")
            }
        }
    }

    @Test("T-D33: of two projects that want the same at once, one gets it")
    func race() async throws {
        try await TestService.run(Self.options()) { service in
            try await TestService.run(Self.options()) { other in
                for round in 0..<RaceRounds.count {
                    let own = "https://race-\(round)-\(service.project.id).example.com"
                    async let first = Self.set(own, in: service)
                    async let second = Self.set(own, in: other)
                    let statuses = try await [first.status, second.status]
                    #expect(statuses.sorted() == [200, 400], "\(statuses)")
                }
            }
        }
    }
}
