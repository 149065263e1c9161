import Development
import Foundation
import Projects
import TestKit
import Testing
import Text

/// The sign-in page counts against the limits of the API, and says so in the reader's words.
@Suite("Limits: the sign-in page", .testProvider)
struct SignInPageLimitTests {
    private static let ada = "ada@example.com"
    private static let words = [
        "en": "Too many attempts. Wait a few minutes, then try again.",
        "de": "Zu viele Versuche. Warten Sie einige Minuten und versuchen Sie es dann noch einmal.",
        "ja": "試行回数が多すぎます。数分待ってから、もう一度お試しください。",
    ]

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void,
        _ body: @Sendable (TestService, SignInPagePerson) async throws -> Void
    ) async throws {
        // What one address did counts in all projects, by clocks of their own: a database for each test.
        try await TestDatabase.withAnother { conninfo in
            try await ProviderScene.runPages(.github) {
                $0.service.conninfo = conninfo
                $0.service.limitsRates = true
                $0.service.settings.signInPage = true
                change(&$0.service.settings)
            } _: { scene in
                try await body(scene.service, SignInPagePerson(service: scene.service))
            }
        }
    }

    /// The same step once more, with the reason and nobody signed in.
    private func expectRefused(
        _ page: Visit,
        _ language: String = "en",
        at heading: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(page.status == 400, "\(page.text)", sourceLocation: sourceLocation)
        #expect(page.alert == Self.words[language], "\(page.text)", sourceLocation: sourceLocation)
        #expect(heading == nil || page.heading == heading, "\(page.text)", sourceLocation: sourceLocation)
        #expect(!page.text.contains("signInCode"), sourceLocation: sourceLocation)
    }

    @Test(
        "passwords are guessed so often, then not even the right one counts, here or in the API",
        arguments: ["en", "de", "ja"]
    )
    func passwords(_ language: String) async throws {
        try await run {
            $0.rateLimits[.passwordTries].count = 3
        } _: { service, person in
            _ = try await service.signUp(Self.ada)
            var page = try await person.open([("lang", language)])
            for _ in 0..<3 {
                page = try await person.signIn(Self.ada, "wrong horse", on: page)
                #expect(page.status == 400 && page.alert != Self.words[language], "\(page.text)")
            }
            let refused = try await person.signIn(Self.ada, "correct horse", on: page)
            expectRefused(refused, language)
            #expect(refused.text.contains(#"value="ada@example.com""#), "what was typed is there still")
            try await service.signInWithPassword(Self.ada, "correct horse").expectRefused(LimitScene.locked)
            service.clock.advance(by: 600)
            let end = try await person.signIn(Self.ada, "correct horse", on: refused)
            try await person.redeem(end).expectOK()
        }
    }

    @Test("guesses in a conflict count as all others do, and the conflict waits")
    func conflict() async throws {
        try await run {
            $0.rateLimits[.passwordTries].count = 2
        } _: { service, person in
            _ = try await service.signUp(Self.ada)
            var page = try await person.press("provider", "github.com", on: try await person.open())
            for _ in 0..<2 { page = try await person.signIn(Self.ada, "wrong horse", on: page) }
            let refused = try await person.signIn(Self.ada, "correct horse", on: page)
            expectRefused(refused, at: "You already have an account")
            service.clock.advance(by: 900)
            let end = try await person.signIn(Self.ada, "correct horse", on: refused)
            try await person.redeem(end).expectOK()
        }
    }

    @Test("one address opens so many accounts")
    func signUps() async throws {
        try await run {
            $0.rateLimits[.signUpsPerAddress].count = 1
        } _: { service, person in
            let form = try await person.press("do", "showSignUp", on: try await person.open())
            let first = ["email": "first@example.com", "password": "correct horse"]
            #expect(try await person.press("do", "signUp", first, on: form).query["signInCode"] != nil)
            let second = first.merging(["email": "second@example.com"]) { $1 }
            expectRefused(try await person.press("do", "signUp", second, on: form), at: "Create an account")
            let found = try await service.admin("accounts:lookup", ["email": ["second@example.com"]])
            #expect(found["users"] == nil, "\(found)")
        }
    }

    @Test("T-E1: password reset emails are limited alike for addresses with and without an account")
    func mails() async throws {
        try await run {
            $0.rateLimits[.mailsPerRecipient].count = 1
        } _: { service, person in
            _ = try await service.signUp(Self.ada)
            let form = try await person.press("do", "forgotPassword", on: try await person.open())
            for address in [Self.ada, "nobody@example.com"] {
                let sent = try await person.press("do", "sendMail", ["email": address], on: form)
                #expect(sent.heading == "Check your email", "\(sent.text)")
                let again = try await person.press("do", "sendMail", ["email": address], on: form)
                expectRefused(again, at: "Forgot your password?")
            }
            #expect(try await service.mails().count == 1)
        }
    }

    @Test("T-E2: codes of second factors are tried so often, then not even the right one counts")
    func secondFactors() async throws {
        try await run {
            $0.offerApps()
            $0.rateLimits[.secondFactorTries].count = 2
        } _: { service, person in
            let user = try await service.verifiedUser(Self.ada)
            let app = try await AuthenticatorApp.enroll(user.idToken, service).app
            var page = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            service.clock.advance(by: 30)
            let wrong = app.code() == "000000" ? "000001" : "000000"
            for _ in 0..<2 {
                page = try await person.press("do", "proveCode", ["code": wrong], on: page)
                #expect(page.alert == "This code is incorrect or has already been used.", "\(page.text)")
            }
            let refused = try await person.press("do", "proveCode", ["code": app.code()], on: page)
            expectRefused(refused, at: "One more step")
        }
    }

    @Test("T-E7: one phone gets so many codes")
    func messages() async throws {
        try await run {
            $0.secondFactors.isEnabled = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        } _: { service, person in
            let user = try await service.verifiedUser(Self.ada)
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service)
            try await service.limit(["smsPerRecipient": ["count": 1, "seconds": 3600]])
            service.clock.advance(by: 3600)
            let page = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            let asked = try await person.press("send", phone.enrollment, on: page)
            #expect(asked.status == 200, "\(asked.text)")
            expectRefused(try await person.press("send", phone.enrollment, on: asked), at: "One more step")
        }
    }
}
