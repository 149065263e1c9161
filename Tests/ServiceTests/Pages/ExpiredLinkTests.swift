import Accounts
import Delivery
import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Links of mails that have expired", .database, .serialized)
struct ExpiredLinkTests {
    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.authorizedDomains = ["app.example.com"]
                $0.offerApps()
                change(&$0)
            },
            body
        )
    }

    private static let again = [("again", "true")]
    private static let repeatable: [OOBCodeType] = [.passwordReset, .verifyEmail, .emailSignIn]
    private static let page = "https://app.example.com/done"

    @Test("their page offers a new mail, which it sends once, to the same address", arguments: repeatable)
    func sendsAgain(_ type: OOBCodeType) async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(type, continueURL: Self.page, language: "de")
            // Before that, it is used as it is.
            try await service.post(link, Self.again).expectProblem("INVALID_OOB_CODE")
            service.clock.advance(by: Double(type.template.standardLinkLifetime))
            let browser = ScriptedBrowser()
            let question = try await browser.open(service.baseURL + link.path)
            #expect(question.text.contains("Dieser Link ist zu alt"))
            // Looking sends nothing: mail programs look.
            #expect(try await service.mail(type, to: "ada@example.com").code == link["oobCode"])
            let form = try #require(question.forms.first, "\(question.text)")
            let done = try await browser.submit(form, [:], on: question)
            #expect(done.status == 200 && done.text.contains("ada@example.com"), "\(done.text)")
            let sent = try await service.mail(type, to: "ada@example.com")
            #expect(sent.code != link["oobCode"])
            #expect(sent.items["continueUrl"] == Self.page && sent.mail.language == "de")
            #expect(sent.mail.code == nil, "digits belong to the app that asked")
            // The new one has replaced it.
            try await service.post(link, Self.again).expectProblem("INVALID_OOB_CODE")
            let opened = try await service.open(ActionLinkItems(sent))
            #expect(opened.status == (type == .emailSignIn ? 303 : 200), "\(opened)")
        }
    }

    @Test(
        "those of other kinds offer none",
        arguments: [OOBCodeType.verifyAndChangeEmail, .recoverEmail, .revertSecondFactor]
    )
    func others(_ type: OOBCodeType) async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(type)
            service.clock.advance(by: Double(type.template.standardLinkLifetime))
            let page = try await service.open(link)
            page.expectProblem("EXPIRED_OOB_CODE")
            #expect(!page.text.contains("<form"))
            let before = try await service.mails().count
            try await service.post(link, Self.again).expectProblem("INVALID_OOB_CODE")
            #expect(try await service.mails().count == before)
        }
    }

    @Test(
        "the answer is the same when the account is disabled; nothing is sent",
        arguments: repeatable
    )
    func tellsNothing(_ type: OOBCodeType) async throws {
        try await run({ $0.emailEnumerationProtection = false }) { service in
            /// The page, and the number of mails that came with it.
            func answer(_ change: (String) async throws -> Reply) async throws -> (String, Int) {
                let (link, user) = try await service.actionMail(type, continueURL: Self.page)
                service.clock.advance(by: Double(type.template.standardLinkLifetime))
                let changed = try await change(try #require(user.localID))
                changed.expectOK()
                let scope = Scope(project: service.project.id)
                let before = try await service.stores.outbox.waiting(Mail.kind, in: scope).count
                let reply = try await service.post(link, Self.again)
                reply.expectOK()
                let after = try await service.stores.outbox.waiting(Mail.kind, in: scope).count
                _ = try await service.admin("accounts:delete", ["localId": JSON(user.localID)])
                return (reply.text.replacing(/nonce="[^"]*"/, with: ""), after - before)
            }
            let usual = try await answer { try await service.admin("accounts:lookup", ["localId": [JSON($0)]]) }
            let disabled = try await answer {
                try await service.admin("accounts:update", ["localId": JSON($0), "disableUser": true])
            }
            #expect(usual.1 == 1 && disabled == (usual.0, 0))
        }
    }

    @Test("the limits of mails apply")
    func limits() async throws {
        try await LimitScene.run { settings in
            settings.allowsEmailLink = true
            settings.rateLimits[.mailsPerRecipient].count = 3
        } _: { service in
            let (link, _) = try await service.actionMail(.passwordReset)
            service.clock.advance(by: 3_600)
            for _ in 0..<3 {
                let page: JSON = ["continueUrl": "http://localhost/", "canHandleCodeInApp": true]
                let reply = try await service.sendCode(.emailSignIn, page.merging(["email": "ada@example.com"]))
                reply.expectOK()
            }
            try await service.post(link, Self.again).expectProblem("TOO_MANY_ATTEMPTS_TRY_LATER")
            service.clock.advance(by: 3_600)
            try await service.post(link, Self.again).expectOK()
        }
    }

    @Test("a project chooses how long they are valid", arguments: OOBCodeType.allCases)
    func lifetimes(_ type: OOBCodeType) async throws {
        try await run({ $0.mail[linkOf: type.template] = 600 }) { service in
            let (link, _) = try await service.actionMail(type, continueURL: Self.page)
            let recipient = type == .verifyAndChangeEmail ? "ada@example.net" : "ada@example.com"
            #expect(try await service.mail(type, to: recipient).mail.lifetime == 600)
            service.clock.advance(by: 599)
            #expect(try await service.open(link).status == (type == .emailSignIn ? 303 : 200))
            service.clock.advance(by: 1)
            #expect(try await service.open(link).pageCode == "EXPIRED_OOB_CODE")
        }
    }
}
