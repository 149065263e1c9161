import Accounts
import Delivery
import Domain
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import SMTPClient
import Storage
import Testing
import TestKit

/// The outbox is the database's, not a test's: one at a time.
@Suite("Mails in the outbox", .database, .serialized, .timeLimit(.minutes(10)))
struct MailDeliveryTests {
    init() async throws {
        // What another test left behind.
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
    }

    private static let link = "https://id.example.com/auth?oobCode=SECRET-CODE"

    /// Runs `body` with a service that sends mails through a server.
    private static func run(
        through server: SMTPServer,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        let sender = try #require(MailAddress(parsing: "App <mail@example.com>"))
        try await SMTPClient.with(server) { client in
            var options = TestService.Options()
            options.mailer = Mailer(from: sender, through: client)
            try await TestService.run(options, body)
        }
    }

    private static func write(
        _ service: TestService,
        _ count: Int = 1,
        to address: String = "ada@example.com"
    ) async throws {
        for _ in 0..<count {
            try await service.stores.outbox.insert(
                kind: Mail.kind,
                Mail(template: .passwordReset, to: address, link: link),
                of: .password,
                in: Scope(project: service.project.id),
                due: service.clock.current
            )
        }
    }

    private struct Row: Equatable {
        var isDelivered = false
        var isAbandoned = false
        var isEmpty = false
        var attempts: Int32 = 0

        static func delivered(_ attempts: Int32) -> Row { Row(isDelivered: true, isEmpty: true, attempts: attempts) }
        static func abandoned(_ attempts: Int32) -> Row { Row(isAbandoned: true, isEmpty: true, attempts: attempts) }
        static func waiting(_ attempts: Int32) -> Row { Row(attempts: attempts) }
    }

    private static func rows(_ service: TestService) async throws -> [Row] {
        try await service.stores.database.query(
            """
            SELECT delivered_at IS NOT NULL, abandoned_at IS NOT NULL, length(payload) = 0, attempts FROM outbox
            WHERE project = \(service.project.id.rawValue)
            """
        ) { row in
            Row(
                isDelivered: try row.next(),
                isAbandoned: try row.next(),
                isEmpty: try row.next(),
                attempts: try row.next()
            )
        }
    }

    /// What the log has of them: no address, no link, no password.
    private static func expectSilence(_ service: TestService) {
        let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
        for secret in ["SECRET-CODE", "ada@example.com", "correct horse"] {
            #expect(!log.contains { $0.contains(secret) })
        }
    }

    @Test("leave once each, by a server with TLS and a user, and nothing of them stays")
    func delivers() async throws {
        var options = MailServer.Options()
        options.security = .starttls
        (options.user, options.password) = ("mailer", "correct horse")
        try await MailServer.with(options) { server in
            var client = server.client(.starttls)
            (client.user, client.password) = ("mailer", Secret("correct horse"))
            try await Self.run(through: client) { service in
                try await Self.write(service, 20)
                #expect(try await service.assembly.deliveries.deliverDue() == 20)
                #expect(try await service.assembly.deliveries.deliverDue() == 0)
                #expect(try await Self.rows(service) == Array(repeating: .delivered(1), count: 20))
                let mails = try await server.mails(20)
                #expect(Set(mails.map { $0["headers"]?["Message-ID"] }).count == 20 && mails.count == 20)
                #expect(mails.allSatisfy { $0["secured"] == true && $0["user"] == "mailer" })
                #expect(mails.first?["parts"]?["text/plain"]?.string?.contains(Self.link) == true)
                Self.expectSilence(service)
            }
        }
    }

    @Test("wait while the server is down or refuses the user, and leave once it is back")
    func serverComesBack() async throws {
        var options = MailServer.Options()
        options.port = try await MailServer.with { $0.port }
        let client = SMTPServer(host: "localhost", port: options.port, security: .none)
        try await Self.run(through: client) { [options] service in
            try await Self.write(service, 3)
            #expect(try await service.assembly.deliveries.deliverDue() == 3)
            #expect(try await Self.rows(service) == Array(repeating: .waiting(1), count: 3))
            #expect(try await service.assembly.deliveries.deliverDue() == 0, "not at once again")
            var closed = options
            (closed.security, closed.user, closed.password) = (.none, "mailer", "correct horse")
            try await MailServer.with(closed) { _ async throws -> Void in
                service.clock.advance(by: 11)
                #expect(try await service.assembly.deliveries.deliverDue() == 3)
                #expect(try await Self.rows(service) == Array(repeating: .waiting(2), count: 3))
            }
            try await MailServer.with(options) { server in
                service.clock.advance(by: 33)
                #expect(try await service.assembly.deliveries.deliverDue() == 3)
                #expect(try await Self.rows(service) == Array(repeating: .delivered(3), count: 3))
                let ids = try await server.mails(3).map { $0["headers"]?["Message-ID"] }
                #expect(Set(ids).count == 3 && ids.count == 3)
            }
            Self.expectSilence(service)
        }
    }

    @Test("are given up at once when the server refuses them, and keep no other back")
    func refused() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("RCPT", ["550 5.1.1 no such user here: ada@example.com"])
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.rows(service) == [.abandoned(1)])
                try await Self.write(service, to: "ada@example.com\r\nBcc: eve@example.com")
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 2)
                let rows = try await Self.rows(service)
                #expect(rows.count { $0 == .abandoned(1) } == 2 && rows.contains(.delivered(1)))
                #expect(try await server.mails(1).count == 1)
                service.clock.advance(by: 5 * 86_400)
                #expect(try await service.assembly.deliveries.deliverDue() == 0)
                Self.expectSilence(service)
            }
        }
    }

    @Test("wait while the server refuses who they are from, which the operator may mend")
    func senderRefused() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("MAIL", ["550 5.7.1 sender not allowed", "553 5.1.8 no such sender"])
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                for attempts in 1...3 as ClosedRange<Int32> {
                    #expect(try await service.assembly.deliveries.deliverDue() == 1)
                    #expect(try await Self.rows(service) == [attempts < 3 ? .waiting(attempts) : .delivered(3)])
                    service.clock.advance(by: 33)
                }
                #expect(try await server.mails(1).count == 1)
            }
        }
    }

    private static func mailServer(_ service: TestService) async throws -> [JSON?] {
        let ready = try await service.send("GET", "/readyz")
        let metric = try await MetricsPage(service).values[#"identity_ready{check="mail"}"#]
        #expect(ready.status == 200 && metric == (ready["dependencies"]?["mail"] == "ok" ? 1 : 0))
        return [ready["dependencies"]?["mail"]]
    }

    @Test(
        "wait while the server refuses the node, which is shown, and leave once it is fixed",
        arguments: [
            "554 5.7.1 <ada@example.com>: Relay access denied", "550 relay not permitted",
            "504 5.5.2 <vm>: Helo command rejected: need fully-qualified hostname", "503 AUTH first",
            "530 5.7.0 AUTH first",
        ]
    )
    func nodeRefused(_ answer: String) async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("RCPT", Array(repeating: answer, count: 9))
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                #expect(try await Self.mailServer(service) == ["ok"])
                try await Self.write(service, 3)
                for attempts in 1...4 as ClosedRange<Int32> {
                    #expect(try await service.assembly.deliveries.deliverDue() == 3)
                    let expected = attempts < 4 ? Row.waiting(attempts) : .delivered(4)
                    #expect(try await Self.rows(service) == Array(repeating: expected, count: 3))
                    #expect(try await Self.mailServer(service) == [attempts < 4 ? "failed" : "ok"])
                    service.clock.advance(by: 100)
                }
                #expect(try await server.mails(3).count == 3)
                Self.expectSilence(service)
            }
        }
    }

    @Test("are given up when the server refuses them again but accepts others, as no failure of the server")
    func refusedAlone() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("DATA", ["554 5.7.1 spam", "250", "554 5.7.1 spam"])
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.mailServer(service) == ["failed"], "nobody knows better yet")
                service.clock.advance(by: 5)
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.mailServer(service) == ["ok"])
                service.clock.advance(by: 6)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                let rows = try await Self.rows(service)
                #expect(rows.contains(.delivered(1)) && rows.contains(.abandoned(2)) && rows.count == 2)
                #expect(try await Self.mailServer(service) == ["ok"])
            }
        }
    }

    @Test("an unknown recipient, or one that is asked to wait, does not show the server as failed")
    func unknownRecipient() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("RCPT", ["450 4.2.0 greylisted", "550 5.1.1 no such user"])
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                for row in [Row.waiting(1), .abandoned(2)] {
                    #expect(try await service.assembly.deliveries.deliverDue() == 1)
                    #expect(try await Self.rows(service) == [row])
                    #expect(try await Self.mailServer(service) == ["ok"])
                    service.clock.advance(by: 11)
                }
            }
        }
    }

    @Test("are no longer sent once their code is invalid, which is logged")
    func late() async throws {
        try await MailServer.with { server in
            try await Self.run(through: server.client()) { service in
                _ = try await service.signUp("ada@example.com")
                for _ in 0..<2 {
                    let reply = try await service.sendCode(.passwordReset, ["email": "ada@example.com"])
                    reply.expectOK()
                    service.clock.advance(by: 3599)
                }
                #expect(try await service.assembly.deliveries.deliverDue() == 2)
                let rows = try await Self.rows(service)
                #expect(rows.contains(.abandoned(1)) && rows.contains(.delivered(1)) && rows.count == 2)
                #expect(try await server.mails(1).count == 1)
                let late = service.logs.entries.filter { "\($0.message)".contains("expired message") }
                #expect(late.count == 1 && late.first?.level == .warning)
            }
        }
    }

    @Test("are tried again after 4xx, as the same mail")
    func deferred() async throws {
        var options = MailServer.Options()
        options.answers = ["451 4.7.1 greylisted", "421 4.3.2 too much"]
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                for seconds in [0.0, 11, 33] {
                    service.clock.advance(by: seconds)
                    #expect(try await service.assembly.deliveries.deliverDue() == 1)
                }
                #expect(try await Self.rows(service) == [.delivered(3)])
                let mails = try await server.mails(3)
                #expect(mails.map { $0["mail"] } == ["refused", "refused", "taken"])
                #expect(Set(mails.map { $0["headers"]?["Message-ID"] }).count == 1)
            }
        }
    }

    @Test("come twice only when the node dies before it has written that they left, as the same mail")
    func diesInBetween() async throws {
        try await MailServer.with { server in
            try await Self.run(through: server.client()) { service in
                try await Self.write(service)
                // A node that sends it and is never heard of again.
                let taken = try await service.stores.outbox.take(
                    [Mail.kind],
                    limit: 1,
                    lease: 120,
                    now: service.clock.current
                )
                let message = try #require(taken.first)
                let mail = try JSONDecoder().decode(Mail.self, from: Data(try message.payload.get()))
                let sender = try #require(MailAddress(parsing: "mail@example.com"))
                try await SMTPClient.with(server.client()) { client in
                    let mailer = Mailer(from: sender, through: client)
                    try await mailer.send(mail, id: message.id, of: service.project, date: service.clock.current)
                }
                #expect(try await service.assembly.deliveries.deliverDue() == 0)
                service.clock.advance(by: 121)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                let mails = try await server.mails(2)
                #expect(mails.count == 2)
                #expect(Set(mails.map { $0["headers"]?["Message-ID"] }) == ["<\(message.id)@example.com>"])
            }
        }
    }

    @Test("a server that stalls holds up no message of another kind")
    func holdsUpNothingElse() async throws {
        var options = MailServer.Options()
        options.stalls = true
        try await MailServer.with(options) { server in
            try await Self.run(through: server.client()) { service in
                async let _: Void = service.assembly.deliveries.run()
                try await Self.write(service)
                _ = try await server.mails(1)
                try await service.stores.outbox.insert(
                    kind: ForgottenTokens.kind,
                    ForgottenTokens(tenant: "", provider: "oidc.acme"),
                    of: "oidc.acme",
                    in: Scope(project: service.project.id),
                    due: service.clock.current
                )
                try await waitUntil { try await Self.rows(service).contains(.delivered(1)) }
                // The server has not answered yet: nobody settled the mail.
                #expect(try await Self.rows(service).contains(.waiting(1)))
                #expect(!service.logs.entries.contains { "\($0.message)".contains("retried") })
                server.crash()
            }
        }
    }

    @Test("a server that stalls keeps its mail waiting")
    func stalls() async throws {
        var options = MailServer.Options()
        options.stalls = true
        try await MailServer.with(options) { server in
            var client = server.client()
            client.limits.total = 0.5
            try await Self.run(through: client) { service in
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.rows(service) == [.waiting(1)])
            }
        }
    }

    @Test("wait, untouched, on a node without a mail server for one that has it")
    func withoutServer() async throws {
        try await TestService.run { first in
            try await Self.write(first)
            #expect(try await first.assembly.deliveries.deliverDue() == 0)
            first.clock.advance(by: 30 * 86_400)
            #expect(try await first.assembly.deliveries.deliverDue() == 0)
            #expect(try await Self.rows(first) == [.waiting(0)])
            try await MailServer.with { server in
                let sender = try #require(MailAddress(parsing: "mail@example.com"))
                try await SMTPClient.with(server.client()) { client in
                    var options = TestService.Options()
                    (options.project, options.clock) = (first.project, first.clock)
                    options.mailer = Mailer(from: sender, through: client)
                    let tried = try await TestService.run(options) { try await $0.assembly.deliveries.deliverDue() }
                    #expect(tried == 1)
                }
                #expect(try await Self.rows(first) == [.delivered(1)])
            }
        }
    }

    @Test("look as the project's settings say, from the next mail on")
    func settings() async throws {
        try await MailServer.with { server in
            try await Self.run(through: server.client()) { service in
                let template: JSON = [
                    "subject": "New password for %APP_NAME%", "body": "<a href=\"%LINK%\">here</a>",
                    "bodyFormat": "HTML",
                    "senderDisplayName": "Support", "senderLocalPart": "support", "replyTo": "help@example.org",
                ]
                let body: JSON = [
                    "notification": ["sendEmail": ["resetPasswordTemplate": template], "defaultLocale": "ja"],
                    "identity": ["appName": "Tea House"],
                ]
                let mask = "notification.send_email.reset_password_template,notification.defaultLocale,identity.appName"
                let reply = try await service.admin("config?updateMask=\(mask)", body, method: "PATCH", version: "v2")
                reply.expectOK()
                #expect(reply["notification"]?["defaultLocale"] == "ja")
                let shown = template.merging(["customized": true])
                #expect(reply["notification"]?["sendEmail"]?["resetPasswordTemplate"] == shown)
                #expect(reply["identity"]?["appName"] == "Tea House")
                try await Self.write(service)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
                let mail = try #require(try await server.mails(1).first)
                #expect(mail["headers"]?["Subject"] == "New password for Tea House")
                #expect(mail["headers"]?["From"] == "Support <support@example.com>")
                #expect(mail["sender"] == "support@example.com")
                #expect(mail["headers"]?["Reply-To"] == "help@example.org")
                #expect(mail["parts"]?["text/plain"]?.string == "here <\(Self.link)>\n")
                #expect(mail["parts"]?["text/html"] == "<a href=\"\(JSON(Self.link).string ?? "")\">here</a>")
                let cleared = try await service.admin(
                    "config?updateMask=notification",
                    [:],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(cleared["notification"] == nil)
            }
        }
    }
}
