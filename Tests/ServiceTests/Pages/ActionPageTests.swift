import Projects
import Storage
import TestKit
import Testing

@Suite("The pages of mails' links", .database, .testProvider, .serialized)
struct ActionPageTests {
    private let ada = "ada@example.com"
    private let app = "https://app.example.com/after?step=2#top"

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.authorizedDomains = ["app.example.com"]
                $0.mail.appName = "Tea House"
                $0.offerApps()
                change(&$0)
            },
            body
        )
    }

    struct Action: Sendable, CustomTestStringConvertible {
        var type: OOBCodeType
        /// What the page says before and after.
        var asks: [String]
        var done: String
        var testDescription: String { type.rawValue }
    }

    private static let actions = [
        Action(
            type: .verifyEmail,
            asks: ["Confirm your email address", "ada@example.com", "Password", "only if you created it"],
            done: "Email address confirmed"
        ),
        Action(
            type: .verifyAndChangeEmail,
            asks: ["Change your email address", "ada@example.com", "ada@example.net", "Password"],
            done: "Email address changed"
        ),
        Action(
            type: .recoverEmail,
            asks: ["Restore your email address", "ada@example.com", "ada@example.net", "Password"],
            done: "Email address restored"
        ),
        Action(
            type: .revertSecondFactor,
            asks: ["Remove the second factor", "ada@example.com", "Authenticator app", "Password"],
            done: "Second factor removed"
        ),
        Action(type: .passwordReset, asks: ["Set a new password", "ada@example.com"], done: "Password saved"),
    ]

    private func isDone(_ type: OOBCodeType, _ user: Reply, _ service: TestService) async throws -> Bool {
        let account = try #require(try await service.account(user.localID))
        switch type {
        case .verifyEmail: return account["emailVerified"] == true
        case .verifyAndChangeEmail: return account["email"] == "ada@example.net"
        case .recoverEmail: return account["email"] == "ada@example.com"
        case .revertSecondFactor: return account["mfaInfo"] == nil
        case .passwordReset: return try await service.signInWithPassword(ada, "the new one").status == 200
        case .emailSignIn: return false
        }
    }

    @Test("T-E5: twenty looks of a scanner do nothing, the button's press does it, once", arguments: actions)
    func asksAndDoes(_ action: Action) async throws {
        try await run { service in
            let (link, user) = try await service.actionMail(action.type)
            for _ in 0..<10 {
                let page = try await service.open(link)
                page.expectOK()
                for text in ["Tea House"] + action.asks { #expect(page.text.contains(text), "\(text) in \(page.text)") }
                let head = try await PlainHTTP.send("HEAD", service.baseURL + link.path)
                #expect(head.status == 200 && head.body.isEmpty)
            }
            #expect(try await !isDone(action.type, user, service))
            let done = try await service.carryOut(link, ["newPassword": "the new one"])
            #expect(done.status == 200 && done.text.contains(action.done), "\(done.text)")
            #expect(!done.text.contains("href="), "there is nowhere to go on to")
            #expect(try await isDone(action.type, user, service))
            try await service.open(link).expectProblem("INVALID_OOB_CODE")
            try await service.post(link, [("newPassword", "another one")]).expectProblem("INVALID_OOB_CODE")
            #expect(try await isDone(action.type, user, service))
        }
    }

    @Test("verifying and resetting continue to the app, whichever button was used", arguments: actions)
    func leadsOn(_ action: Action) async throws {
        // What the service sends by itself leads nowhere.
        guard action.type != .recoverEmail, action.type != .revertSecondFactor else { return }
        try await run { service in
            let (link, _) = try await service.actionMail(action.type, continueURL: app)
            let done = try await service.carryOut(link, ["newPassword": "the new one"])
            #expect(done.text.contains(#"<a class="button" href="https://app.example.com/after?step=2#top">"#))
            #expect(done.text.contains("Continue to <bdi>Tea House</bdi>"), "\(done.text)")
        }
    }

    @Test("T-E5: opening a sign-in link continues to the app with its code, and does not use the code up")
    func signsIn() async throws {
        try await run { service in
            let (link, user) = try await service.actionMail(.emailSignIn, continueURL: app, language: "de-AT")
            let code = try #require(link["oobCode"])
            let expected =
                "https://app.example.com/after?step=2&mode=signIn&lang=de-AT&oobCode=\(code)&apiKey=\(service.apiKey)#top"
            for _ in 0..<10 {
                let reply = try await service.open(link)
                #expect(reply.status == 303 && reply.response.header("location") == expected, "\(reply)")
            }
            let again = try await service.open(
                link.with("continueUrl", "https://app.example.com/?oobCode=x&%6dode=y&a=b&lang")
            )
            #expect(
                again.response.header("location")
                    == "https://app.example.com/?a=b&mode=signIn&lang=de-AT&oobCode=\(code)&apiKey=\(service.apiKey)"
            )
            #expect(try await service.signInWithLink(ada, code).localID == user.localID)
            try await service.open(link).expectProblem("INVALID_OOB_CODE")
        }
    }

    @Test("a sign-in code needs an app to continue to")
    func signInNeedsAnApp() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.emailSignIn, continueURL: app)
            try await service.open(link.with("continueUrl", nil)).expectProblem("MISSING_CONTINUE_URI")
            try await service.open(link.with("continueUrl", "/x")).expectProblem("INVALID_CONTINUE_URI")
            try await service.open(link.with("continueUrl", "https://evil.example/")).expectProblem(
                "UNAUTHORIZED_DOMAIN"
            )
            let config: JSON = ["signIn": ["email": ["enabled": true, "passwordRequired": true]]]
            _ = try await service.admin(
                "config?updateMask=signIn.email.passwordRequired",
                config,
                method: "PATCH",
                version: "v2"
            )
            try await service.open(link).expectProblem("OPERATION_NOT_ALLOWED")
        }
    }

    @Test("the page names the ways into the account before it is confirmed: providers by the project's names for them")
    func namesMethods() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person(verified: false))
            let github = try await world.github(
                world.githubPerson("7", email: "other@example.com"),
                idToken: user.idToken
            )
            let service = world.service
            let body: JSON = ["idToken": JSON(github.idToken ?? user.idToken)]
            let reply = try await service.sendCode(.verifyEmail, body)
            reply.expectOK()
            let page = try await service.open(ActionLinkItems(service.mail(.verifyEmail, to: ada)))
            #expect(page.text.contains("GitHub, oidc.acme"), "\(page.text)")
        }
    }

    @Test("of two presses at once one counts, and the other ends in a page as well", .twoNodes)
    func twoPresses() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.verifyEmail)
            let replies = try await inParallel(2) { _ in try await service.post(link) }.sorted { $0.status < $1.status }
            replies[0].expectOK()
            replies[1].expectProblem("INVALID_OOB_CODE")
        }
    }

    @Test("a weak password shows the form again with the missing requirements; the code stays valid")
    func weakPassword() async throws {
        try await run {
            $0.passwordPolicy.isEnforced = true
            $0.passwordPolicy.minimumLength = 10
            $0.passwordPolicy.needsDigit = true
        } _: { service in
            let (link, _) = try await service.actionMail(.passwordReset, continueURL: app)
            let page = try await service.open(link)
            #expect(
                page.text.contains(#"autocomplete="new-password""#) && page.text.contains("<bdi>10</bdi> characters")
            )
            let browser = ScriptedBrowser()
            var visit = try await browser.open(service.baseURL + link.path)
            for (password, lacks) in [("", 2), ("longer than ten", 1), ("short 1", 1)] {
                let form = try #require(visit.forms.first)
                #expect(form.value("continueUrl") == app)
                visit = try await browser.submit(form, ["newPassword": password], on: visit)
                #expect(visit.status == 400, "\(visit.text)")
                let alert = try #require(
                    visit.text.firstMatch(of: /<div id="problem" role="alert">.*?<\/div>/.dotMatchesNewlines())
                )
                #expect(alert.output.matches(of: /<li>/).count == lacks, "\(alert.output)")
                #expect(visit.text.contains(#"aria-invalid="true""#))
                #expect(password.isEmpty || !visit.text.contains(password))
            }
            let form = try #require(visit.forms.first)
            visit = try await browser.submit(form, ["newPassword": "the new one 1"], on: visit)
            #expect(visit.status == 200 && visit.text.contains("href=\"https://app.example.com/"))
            try await service.signInWithPassword(ada, "the new one 1").expectOK()
        }
    }
}
