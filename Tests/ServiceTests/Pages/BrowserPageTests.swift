import Accounts
import Development
import Foundation
import Projects
import Storage
import TestKit
import Testing
import Text

/// Our pages in a real browser: Debian's Chromium, which `scripts/install-dependencies test` installs.
///
/// Each page is seen on desktop and phone, light and dark, with and without scripts; axe finds nothing to complain of,
/// the keyboard reaches everything, nothing is asked of another host.
@Suite("Pages in Chromium", .database, .serialized)
struct BrowserPageTests {
    private typealias Visit = PagesInChromium.Visit
    private typealias Step = PagesInChromium.Step

    private func look(at visits: [Visit]) async throws { try await PagesInChromium.look(at: visits) }

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.authorizedDomains = ["app.example.com"]
                $0.mail.appName = "Tea House"
                $0.passwordPolicy.isEnforced = true
                $0.passwordPolicy.needsDigit = true
                $0.offerApps()
                change(&$0)
            },
            body
        )
    }

    /// The link that an admin gets for a person of its own, led to this service.
    private func link(
        _ type: OOBCodeType,
        _ name: String,
        language: String = "en",
        _ service: TestService
    ) async throws -> String {
        let email = "\(name)@example.com"
        _ = try await service.admin("accounts", ["email": .string(email), "password": "correct horse"])
        var body: [String: JSON] = [
            "requestType": .string(type.rawValue), "email": .string(email), "returnOobLink": true,
            "continueUrl": "https://app.example.com/after",
        ]
        if type == .verifyAndChangeEmail { body["newEmail"] = .string("\(name)@example.net") }
        let reply = try await service.admin("accounts:sendOobCode", .object(body))
        let text = try #require(reply["oobLink"]?.string, "\(reply)")
        return text.replacing("https://id.example.com", with: service.baseURL)
            .replacing("lang=en", with: "lang=\(language)")
    }

    @Test("T-B11: what a provider put into the fragment is out of the address before it is posted")
    func fragment() async throws {
        try await run { service in
            let handler = service.baseURL + "/__/auth/handler"
            let steps = [Step(posts: "\(handler)#state=s3cret&id_token=t0ken")]
            try await look(at: [Visit(name: "fragment", url: handler, variants: ["desktop"], steps: steps)])
        }
    }

    @Test("every question and every problem, in every language")
    func questions() async throws {
        try await run { service in
            var visits: [Visit] = []
            for type in [OOBCodeType.verifyEmail, .verifyAndChangeEmail, .passwordReset] {
                for language in ["en", "de", "ja"] {
                    let name = "\(type.mode)-\(language)"
                    visits.append(Visit(name: name, url: try await link(type, name, language: language, service)))
                }
            }
            for type in [OOBCodeType.recoverEmail, .revertSecondFactor] {
                let mail = try await service.actionMail(type).link
                try await look(at: [Visit(name: type.mode, url: service.baseURL + mail.path)])
                _ = try await service.post(mail)
                _ = try await service.admin("accounts:delete", ["localId": JSON(try await ada(service))])
                visits.append(Visit(name: "\(type.mode)-used", url: service.baseURL + mail.with("lang", "ja").path))
            }
            let signIn = try await link(.emailSignIn, "signIn", service)
            let elsewhere = signIn.replacing("app.example.com", with: "other.example.com")
            visits.append(Visit(name: "elsewhere", url: elsewhere))
            visits.append(Visit(name: "broken", url: service.baseURL + "/__/auth/action?lang=de"))
            try await look(at: visits)
            service.clock.advance(by: 4 * 86_400)
            try await look(at: [Visit(name: "expired", url: signIn), Visit(name: "expired-de", url: visits[1].url)])
        }
    }

    private func ada(_ service: TestService) async throws -> String? {
        for address in ["ada@example.com", "ada@example.net"] {
            let found = try await service.admin("accounts:lookup", ["email": [.string(address)]])
            if let id = found["users"]?[0]?["localId"]?.string { return id }
        }
        return nil
    }

    @Test("the keyboard gets through each of them, with and without scripts")
    func flows() async throws {
        try await run { service in
            var visits: [Visit] = []
            for variant in ["desktop", "desktop-dark", "phone", "phone-dark"] {
                func add(_ type: OOBCodeType, _ name: String, _ steps: [Step]) async throws {
                    let url = try await link(type, "\(name)-\(variant)", service)
                    visits.append(Visit(name: name, url: url, variants: [variant], steps: steps))
                }
                try await add(
                    .verifyEmail,
                    "verify",
                    [
                        Step(heading: "Confirm your email address"), Step(press: "form button"),
                        Step(heading: "Email address confirmed"), Step(leads: "https://app.example.com/after"),
                    ]
                )
                try await add(
                    .verifyAndChangeEmail,
                    "change",
                    [
                        Step(twice: "form button"), Step(back: true),
                        Step(heading: "This link no longer works"),
                    ]
                )
                try await add(
                    .passwordReset,
                    "reset",
                    [
                        Step(fill: ["#password": "short"]), Step(press: "form button:not([type=button])"),
                        Step(heading: "Set a new password"), Step(fill: ["#password": "the new one 1"]),
                        Step(press: "form button:not([type=button])"), Step(heading: "Password saved"),
                        Step(leads: "https://app.example.com/after"),
                    ]
                )
            }
            try await look(at: visits)
        }
    }

    @Test("the page of identity dev, whose accounts, mails and codes come by themselves")
    func developmentPage() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        options.settings.googleLoader = false
        try await TestService.run(options) { service in
            let requests = "/v1/projects/\(service.project.id)/notifications/facebook.com/deletion/"
            try await look(at: [
                Visit(name: "dev-empty", url: service.baseURL + "/dev"),
                Visit(name: "demo", url: service.baseURL + "/"),
                Visit(name: "no-deletion", url: service.baseURL + requests + "x"),
            ])
            var visits: [Visit] = []
            for variant in ["desktop", "desktop-dark", "phone", "phone-dark"] {
                let name = "\(variant)@example.com"
                let user = try await service.signUp("first-\(name)")
                _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
                let steps = [
                    Step(heading: "Messages and accounts"), Step(sees: "first-\(name)"),
                    Step(post: [
                        "path": "/v1/accounts:signUp?key=any",
                        "body": #"{"email":"second-\#(name)","password":"correct horse"}"#,
                    ]),
                    Step(sees: "second-\(name)"),
                    Step(post: [
                        "path": "/v1/accounts:sendOobCode?key=any",
                        "body": #"{"requestType":"PASSWORD_RESET","email":"second-\#(name)"}"#,
                    ]),
                    Step(sees: "PASSWORD_RESET"),
                    Step(post: [
                        "path": "/v1/accounts:sendVerificationCode?key=any",
                        "body": #"{"phoneNumber":"+4917012345\#(60 + visits.count)"}"#,
                    ]),
                    Step(sees: "+4917012345\(60 + visits.count)"), Step(press: "section li a"),
                ]
                visits.append(Visit(name: "dev", url: service.baseURL + "/dev", variants: [variant], steps: steps))
            }
            try await look(at: visits)
        }
    }

    @Test("the demo page leads to the sign-in page where the project has one, and back with an account")
    func demoSignInPage() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        options.settings.googleLoader = false
        try await TestService.run(options) { service in
            func offers() async throws -> String? {
                let page = try await service.send("GET", "/", headers: [("Accept", "text/html")])
                return page.text.firstMatch(of: #/<script id="offers" type="application/json">(.*?)</script>/#)
                    .map { String($0.1) }
            }
            #expect(try await offers() == #"{"signInPage":false,"passkeys":true}"#)
            let config: JSON = ["identity": ["signInPage": true]]
            let path = "config?updateMask=identity.signInPage"
            try await service.admin(path, config, method: "PATCH", version: "v2").expectOK()
            #expect(try await offers() == #"{"signInPage":true,"passkeys":true}"#)
            _ = try await service.signUp("ada@example.com")
            let steps = [
                Step(press: "#sign-in-page"), Step(fill: ["#email": "ada@example.com"]),
                Step(fill: ["#password": "correct horse"]), Step(press: "button[value=signIn]"),
                Step(heading: "ada@example.com"), Step(says: "Signed in on the sign-in page."),
            ]
            try await look(at: [
                Visit(
                    name: "demo-sign-in",
                    url: service.baseURL + "/",
                    variants: ["desktop", "phone-dark"],
                    steps: steps
                )
            ])
        }
    }

    @Test("the page of a provider of identity dev, with an account that it makes up", .testProvider)
    func providerPage() async throws {
        try await run { service in
            let tenant = try await TestProvider.tenant(.google)
            tenant.addUser(TestUser("1", email: "ada@example.com", name: "Ada Lovelace"))
            tenant.addUser(TestUser("2", email: "alan@example.com", emailVerified: false, name: "Alan Turing"))
            let callback = service.baseURL + "/healthz"
            tenant.addClient("app", redirects: .exact([callback]))
            let fields = [
                ("response_type", "code"), ("client_id", "app"), ("redirect_uri", callback), ("scope", "openid email"),
                ("state", "the-state"), ("nonce", "the-nonce"),
            ]
            let url = (tenant.url(.authorization) ?? "") + "?" + FormFields(pairs: fields).text
            let open = [Step(heading: "Choose an account"), Step(toggle: "#add-account-button")]
            let back = Step(arrives: callback + "?code=")
            // With scripts, the button fills in the form; without, it signs in.
            let paths = [
                "desktop": [Step(toggle: "#autogen-button"), Step(press: "#sign-in"), back],
                "desktop-dark": [Step(press: "#autogen-button"), back],
                "phone": [Step(fill: ["#email-input": "new@example.com"]), Step(press: "#sign-in"), back],
                "phone-dark": [Step(toggle: "#autogen-button"), Step(press: "#sign-in"), back],
            ]
            try await look(
                at: paths.map { variant, steps in
                    Visit(
                        name: "provider",
                        url: url,
                        variants: [variant],
                        steps: open + steps,
                        others: [service.baseURL]
                    )
                }
            )
            #expect(tenant.violations.isEmpty)
        }
    }

    @Test("a project's colors, with text that can be read on them")
    func colors() async throws {
        for (name, accent, background) in [("light", "#ffcc00", "#ffe9f0"), ("dark", "#5b1a8b", "#0b3d2e")] {
            try await run {
                $0.pages.accentColor = PageColor(accent)
                $0.pages.backgroundColor = PageColor(background)
                $0.pages.darkBackgroundColor = PageColor(background)
            } _: { service in
                let url = try await link(.passwordReset, name, service)
                try await look(at: [Visit(name: "colors-\(name)", url: url)])
            }
        }
    }
}
