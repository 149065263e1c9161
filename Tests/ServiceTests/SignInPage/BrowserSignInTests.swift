import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

/// The handler page and the sign-in page in a real browser, whatever people do there; see `PagesInChromium`.
@Suite("Signing in in Chromium", .database, .testProvider, .serialized)
struct BrowserSignInTests {
    private typealias Visit = PagesInChromium.Visit
    private typealias Step = PagesInChromium.Step

    /// Those in which scripts run.
    private static let scripted = ["desktop", "phone-dark"]

    private struct World {
        var service: TestService
        var github: TestTenant
        /// Moves the service's clock on when asked, as the app's own page otherwise.
        var app: String
        var others: [String]
    }

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (World) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.signInPage = true
        options.settings.authorizedDomains = ["localhost", "127.0.0.1"]
        options.settings.mail.appName = "Tea House"
        change(&options.settings)
        try await TestSlots.services.use {
            try await TestService.run(options) { service in
                let github = try await TestProvider.tenant(.github)
                github.addClient(redirects: .anyLocal)
                github.addUser(TestUser("42", email: "ada@example.com", name: "Ada"))
                try await service.configure(github.configuration(as: "github.com"))
                let google = try await TestProvider.tenant(.google)
                google.addClient(redirects: .anyLocal)
                try await service.configure(google.configuration(as: "google.com"))
                let yahoo = try await TestProvider.tenant(.yahooJapan)
                yahoo.addClient(redirects: .anyLocal)
                yahoo.addUser(TestUser("ada", email: "ada@example.com", name: "Ada"))
                let fragment: JSONObject = ["responseTypes": ["code id_token"]]
                try await service.configure(yahoo.configuration(as: "oidc.yahoojp", overrides: fragment))
                try await WebReceiver.run { app in
                    app.answer { request in
                        if request.path == "/late" { service.clock.advance(by: 3_601) }
                        return (200, "")
                    }
                    let others = [github.issuer, google.issuer, yahoo.issuer, app.baseURL].map { Self.origin($0) }
                    try await body(World(service: service, github: github, app: app.baseURL, others: others))
                    #expect(github.violations.isEmpty && yahoo.violations.isEmpty)
                }
            }
        }
    }

    private static func origin(_ url: String) -> String { (URLParts(url)?.origin ?? url) + "/" }

    // MARK: The handler page

    private func handler(_ type: String, _ world: World, _ change: [(String, String)] = []) -> String {
        var pairs = [
            ("apiKey", world.service.apiKey), ("appName", "[DEFAULT]"), ("authType", type),
            ("redirectUrl", world.app + "/back"), ("providerId", "github.com"), ("eventId", "1"),
        ]
        for (name, value) in change {
            pairs.removeAll { $0.0 == name }
            pairs.append((name, value))
        }
        return world.service.baseURL + "/__/auth/handler?" + FormFields(pairs: pairs).text
    }

    @Test("each state of the handler page, in every language")
    func handlerStates() async throws {
        try await run { world in
            var visits: [Visit] = []
            for language in ["en", "de", "ja"] {
                let hl = [("hl", language)]
                visits.append(
                    Visit(
                        name: "handler-key-\(language)",
                        url: handler("signInViaPopup", world, hl + [("apiKey", "x")])
                    )
                )
                let foreign = handler("signInViaRedirect", world, hl + [("redirectUrl", "https://evil.example/")])
                visits.append(Visit(name: "handler-foreign-\(language)", url: foreign))
                // Without scripts it waits for the person.
                visits.append(
                    Visit(
                        name: "handler-wait-\(language)",
                        url: handler("signInViaPopup", world, hl),
                        variants: ["desktop-dark", "phone"],
                        others: world.others
                    )
                )
                // Nobody opened this window.
                visits.append(
                    Visit(
                        name: "handler-lost-\(language)",
                        url: handler("signInViaPopup", world, hl + [("providerId", "oidc.nobody")]),
                        variants: Self.scripted
                    )
                )
            }
            let ended = world.service.baseURL + "/__/auth/handler?state=x&code=y"
            visits.append(Visit(name: "handler-ended", url: ended, steps: [Step(heading: "One moment …")]))
            visits[visits.count - 1].variants = ["desktop-dark", "phone"]
            visits.append(
                Visit(
                    name: "handler-ended",
                    url: ended,
                    variants: Self.scripted,
                    steps: [Step(heading: "This sign-in has ended")]
                )
            )
            try await PagesInChromium.look(at: visits)
        }
    }

    @Test("a refusal, the back button, another tab and too long a time at the provider end in a clear state each")
    func handlerWalks() async throws {
        try await run { world in
            let start = handler("signInViaRedirect", world)
            let approve = Step(press: "button.person")
            func visit(_ name: String, _ steps: [Step]) -> Visit {
                Visit(
                    name: "walk-\(name)",
                    url: world.app + "/app",
                    variants: Self.scripted,
                    steps: [Step(goto: start)] + steps,
                    own: world.service.baseURL,
                    others: world.others
                )
            }
            try await PagesInChromium.look(at: [
                visit("approved", [approve, Step(arrives: world.app + "/back")]),
                visit("refused", [Step(press: "footer button"), Step(arrives: world.app + "/back")]),
                visit("back", [Step(back: true), Step(arrives: world.app + "/app")]),
                visit(
                    "tabs",
                    [Step(tab: start), approve, Step(arrives: world.app + "/back")]
                ),
                visit(
                    "again",
                    [
                        approve, Step(arrives: world.app + "/back"), Step(back: true), approve,
                        Step(heading: "This sign-in has ended"),
                    ]
                ),
                visit("cookies", [Step(forget: true), approve, Step(arrives: world.app + "/back")]),
                visit("late", [Step(call: world.app + "/late"), approve, Step(heading: "This sign-in has ended")]),
            ])
        }
    }

    // MARK: The sign-in page

    private static let signIn = "button[value=signIn]"
    private static let email = "#email"
    private static let password = "#password"

    private func page(_ world: World, language: String = "en") -> String {
        let person = SignInPagePerson(service: world.service)
        return world.service.baseURL + person.path([("continueUrl", world.app + "/back"), ("lang", language)])
    }

    @Test("each step of the sign-in page, in every language, by keyboard, with and without scripts")
    func signInPage() async throws {
        try await run {
            $0.passwordPolicy.isEnforced = true
            $0.passwordPolicy.needsDigit = true
            $0.allowsEmailLink = true
            $0.emailCodes = true
        } _: { world in
            var visits = ["en", "de", "ja"].map { language in
                let steps = [
                    Step(press: "button[value=showSignUp]"), Step(fill: [Self.email: "new@example.com"]),
                    Step(fill: [Self.password: "short"]), Step(press: "button[value=signUp]"),
                    Step(press: "button[value=showSignIn]"), Step(press: "button[value=forgotPassword]"),
                    Step(fill: [Self.email: "ada@example.com"]), Step(press: "button[value=sendMail]"),
                    Step(press: "button[value=showSignIn]"), Step(fill: [Self.password: "wrong"]),
                    Step(press: Self.signIn), Step(press: "button[value=showEmailCode]"),
                    Step(fill: [Self.email: "code@example.com"]), Step(press: "button[value=sendEmailCode]"),
                    Step(fill: ["#code": "1"]), Step(press: "button[value=signInWithEmailCode]"),
                    Step(press: "button[value=showEmailCode]"),
                ]
                return Visit(name: "sign-in-\(language)", url: page(world, language: language), steps: steps)
            }
            let broken = world.service.baseURL + "/__/auth/sign-in?apiKey=\(world.service.apiKey)"
            visits.append(Visit(name: "sign-in-broken", url: broken))
            try await PagesInChromium.look(at: visits)
        }
    }

    @Test("two presses, two tabs, the back button, lost cookies and too long a time end in a clear state each")
    func signInWalks() async throws {
        try await run { world in
            _ = try await world.service.signUp("ada@example.com")
            let fields = [Step(fill: [Self.email: "ada@example.com"]), Step(fill: [Self.password: "correct horse"])]
            let press = Step(press: Self.signIn)
            let arrives = Step(arrives: world.app + "/back?signInCode=page_")
            func visit(_ name: String, _ steps: [Step], _ variants: [String] = []) -> Visit {
                Visit(name: name, url: page(world), variants: variants, steps: steps, others: world.others)
            }
            try await PagesInChromium.look(at: [
                visit("page-twice", fields + [Step(twice: Self.signIn), arrives], Self.scripted),
                visit("page-tabs", [Step(tab: page(world))] + fields + [press, arrives]),
                visit(
                    "page-back",
                    fields + [press, arrives, Step(back: true), Step(heading: "Sign in")] + fields.suffix(1)
                        + [press, arrives],
                    Self.scripted
                ),
                visit(
                    "page-cookies",
                    fields + [
                        Step(forget: true), press, Step(heading: "This page has expired"),
                        Step(press: "main a.button"), Step(heading: "Sign in"),
                    ]
                ),
                visit(
                    "page-provider-back",
                    [Step(press: "button[value='github.com']"), Step(back: true), Step(heading: "Sign in")],
                    Self.scripted
                ),
            ])
            try await PagesInChromium.look(at: [
                visit(
                    "page-late",
                    [Step(call: world.app + "/late")] + fields
                        + [press, Step(heading: "This page has expired")],
                    ["phone"]
                )
            ])
        }
    }

    @Test(
        "a provider that answers in the fragment (Yahoo! JAPAN) leads back to the app, and asks for scripts without them"
    )
    func fragment() async throws {
        try await run { world in
            let there = [Step(press: "button[value='oidc.yahoojp']"), Step(press: "button.person")]
            func visit(_ name: String, _ steps: [Step], _ variants: [String]) -> Visit {
                Visit(name: name, url: page(world), variants: variants, steps: there + steps, others: world.others)
            }
            try await PagesInChromium.look(at: [
                visit("page-fragment", [Step(arrives: world.app + "/back?signInCode=page_")], Self.scripted),
                visit(
                    "page-fragment-still",
                    [Step(heading: "One moment …"), Step(says: "This page requires JavaScript.")],
                    ["desktop-dark", "phone"]
                ),
            ])
        }
    }

    @Test(
        "a conflict is explained and resolved, whatever language, and with the wrong password first",
        arguments: ["en", "de", "ja"]
    )
    func conflict(_ language: String) async throws {
        try await run { world in
            for variant in ["desktop", "desktop-dark", "phone", "phone-dark"] {
                _ = try await world.service.signUp("ada@example.com")
                let steps = [
                    Step(press: "button[value='github.com']"), Step(press: "button.person"),
                    Step(says: "ada@example.com"), Step(fill: [Self.password: "wrong"]), Step(press: Self.signIn),
                    Step(says: "GitHub"), Step(fill: [Self.password: "correct horse"]), Step(press: Self.signIn),
                    Step(arrives: world.app + "/back?signInCode=page_"),
                ]
                try await PagesInChromium.look(at: [
                    Visit(
                        name: "conflict-\(language)",
                        url: page(world, language: language),
                        variants: [variant],
                        steps: steps,
                        others: world.others
                    )
                ])
                _ = try await world.service.stores.accounts.deleteAll(in: Scope(project: world.service.project.id))
            }
        }
    }

    @Test("the second factor is asked for")
    func secondFactor() async throws {
        try await run {
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersTOTP = true
        } _: { world in
            let user = try await world.service.verifiedUser("ada@example.com")
            _ = try await AuthenticatorApp.enroll(user.idToken, world.service)
            let visits = ["en", "de", "ja"].map { language in
                Visit(
                    name: "factor-\(language)",
                    url: page(world, language: language),
                    steps: [
                        Step(fill: [Self.email: "ada@example.com"]), Step(fill: [Self.password: "correct horse"]),
                        Step(press: Self.signIn), Step(fill: ["#code": "000000"]),
                        Step(press: "button[value=proveCode]"),
                    ]
                )
            }
            try await PagesInChromium.look(at: visits)
        }
    }
}
