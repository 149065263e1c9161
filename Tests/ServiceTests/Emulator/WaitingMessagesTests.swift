import IdentityService
import Accounts
import Delivery
import Postgres
import Projects
import Storage
import Synchronization
import TestKit
import Testing

/// The emails and SMS of `identity dev`, which sends none.
@Suite("Messages that wait in development", .database, .serialized)
struct WaitingMessagesTests {
    private func run(
        say: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        options.say = say
        try await TestService.run(options, body)
    }

    private func send(_ numbers: some Sequence<Int>, _ service: TestService) async throws {
        for number in numbers {
            let mail = try await service.sendCode(.emailSignIn, ["email": .string("u\(number)@example.com")])
            mail.expectOK()
            let sms = try await service.sendSMS(to: "+49170\(1_000_000 + number)")
            sms.expectOK()
            // So that the next ones are newer.
            service.clock.advance(by: 0.001)
        }
    }

    @Test("lists are one statement, and the page three, however many messages wait")
    func listingStatements() async throws {
        try await run { service in
            let base = "/emulator/v1/projects/\(service.project.id)"
            try await send(0..<1, service)
            for sent in [1..<1, 1..<101] {
                try await send(sent, service)
                for (path, list) in [("oobCodes", "oobCodes"), ("verificationCodes", "verificationCodes")] {
                    let (count, reply) = try await StatementCount.during {
                        try await service.send("GET", "\(base)/\(path)")
                    }
                    #expect(reply[list]?.array?.count == sent.upperBound)
                    #expect(count.total == 1, "\(count)")
                }
                let (count, page) = try await StatementCount.during { try await service.send("GET", "/dev") }
                #expect(page.response.text.contains(" \(sent.upperBound) SMS in"))
                #expect(count.total == 3, "\(count)")
                let isCut = sent.upperBound > 100
                #expect(page.response.text.contains("Only the newest 100 are shown. oobCodes lists all.") == isCut)
                #expect(page.response.text.contains("<bdi>u0@example.com</bdi>") != isCut)
            }
        }
    }

    @Test("each message is printed once it is stored, which costs no statement, however many wait")
    func printing() async throws {
        let printed = Mutex<[String]>([])
        try await run(say: { text in printed.withLock { $0.append(text) } }) { service in
            func take() -> [String] {
                printed.withLock { texts in
                    defer { texts = [] }
                    return texts
                }
            }
            try await send(0..<1, service)
            let ada = try await service.signUp("ada@example.com")
            var statements: [Int] = []
            for sent in [1..<1, 1..<31] {
                try await send(sent, service)
                _ = take()
                let (count, _) = try await StatementCount.during {
                    try await service.sendCode(.verifyEmail, ["idToken": JSON(ada.idToken)])
                }
                statements.append(count.total)
                let mail = try await service.mail(.verifyEmail, to: "ada@example.com").mail
                #expect(take() == ["email to ada@example.com (VERIFY_EMAIL):\n  \(mail.link)\n"])
            }
            #expect(statements[0] == statements[1])
            // By a change of the account.
            try await service.move(ada, to: "ada@example.org").expectOK()
            let restore = try await service.mail(.recoverEmail, to: "ada@example.com").mail
            #expect(take() == ["email to ada@example.com (RECOVER_EMAIL):\n  \(restore.link)\n"])
            let number = "+491701234567"
            try await service.sendSMS(to: number).expectOK()
            let code = try await service.smsCode(to: number)
            let sms = try #require(take().first)
            #expect(sms.hasPrefix("SMS to \(number):\n  ") && sms.contains(code), "\(sms)")
            // An admin who gets the link needs no email, and a refused request sends none.
            let link: JSON = ["requestType": "PASSWORD_RESET", "email": "ada@example.org", "returnOobLink": true]
            try await service.admin("accounts:sendOobCode", link).expectOK()
            #expect(try await service.sendCode(.passwordReset, ["email": "nobody@example.com"]).status == 400)
            #expect(take().isEmpty)
        }
    }

    @Test("an email waits for a day; its link works for as long as in production", .database)
    func forgetsAfterADay() async throws {
        try await run { service in
            let path = "/emulator/v1/projects/\(service.project.id)/oobCodes"
            let ada = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(ada.idToken)])
            service.clock.advance(by: 86_399)
            try await service.sweep()
            let listed = try await service.send("GET", path)["oobCodes"]?.array ?? []
            #expect(listed.count == 1)
            service.clock.advance(by: 2)
            #expect(try await service.send("GET", path).json == ["oobCodes": []])
            try await service.apply(listed.first?["oobCode"]?.string ?? "").expectOK()
            try await service.assembly.deliveries.deliverDue()
            #expect(try await service.stores.outbox.waiting("mail", in: Scope(project: service.project.id)).isEmpty)
            // A month later, nothing is left of it.
            service.clock.advance(by: 31 * 86_400)
            try await service.sweep()
            #expect(try await rows(of: service) == 0)
        }
    }

    @Test("in production an email waits for its delivery for as long as its code is valid", .database)
    func staysInProduction() async throws {
        try await TestService.run { service in
            let ada = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(ada.idToken)])
            service.clock.advance(by: 3 * 86_400 - 1)
            try await service.sweep()
            #expect(try await rows(of: service) == 1)
            service.clock.advance(by: 2)
            try await service.assembly.deliveries.deliverDue()
            #expect(try await service.stores.outbox.waiting("mail", in: Scope(project: service.project.id)).isEmpty)
            // A month later, nothing is left of it.
            service.clock.advance(by: 31 * 86_400)
            try await service.sweep()
            #expect(try await rows(of: service) == 0)
        }
    }

    private func rows(of service: TestService) async throws -> Int64? {
        try await service.stores.database.query(
            "SELECT count(*) FROM outbox WHERE project = \(service.project.id.rawValue)"
        ) { try $0.next(Int64.self) }.first
    }
}
