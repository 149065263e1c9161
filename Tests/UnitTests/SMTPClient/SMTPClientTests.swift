import SMTPClient
import Secrets
import TestKit
import Testing

@Suite("Mails to an SMTP server", .timeLimit(.minutes(10)))
struct SMTPClientTests {
    private static let message = Array("Subject: Hello\r\n\r\n.one\r\n..two\r\n.\r\nfour\r\n".utf8)

    private static func send(
        _ server: SMTPServer,
        from sender: String = "app@example.com",
        to recipient: String = "ada@example.com"
    ) async throws {
        try await SMTPClient.with(server) { try await $0.send(message, from: sender, to: recipient) }
    }

    @Test(
        "are taken with STARTTLS and with TLS, from a user who is known by either mechanism",
        arguments: [SMTPServer.Security.starttls, .tls],
        ["PLAIN", "LOGIN"]
    )
    func secured(_ security: SMTPServer.Security, _ mechanism: String) async throws {
        var options = MailServer.Options()
        (options.security, options.mechanism) = (security, mechanism)
        (options.user, options.password) = ("mailer", "correct horse")
        try await MailServer.with(options) { server in
            var client = server.client(security)
            (client.user, client.password) = ("mailer", Secret("correct horse"))
            try await Self.send(client)
            let mail = try #require(try await server.mails(1).first)
            #expect(mail["secured"] == true && mail["user"] == "mailer")
            #expect(mail["sender"] == "app@example.com" && mail["recipients"] == ["ada@example.com"])
            #expect(mail["raw"]?.string == String(decoding: Self.message, as: UTF8.self))
            let logins = try await server.logins(1)
            #expect(logins == [mechanism])
        }
    }

    @Test("a user or a password that the server does not know may be mended, and is not printed")
    func unknownUser() async throws {
        var options = MailServer.Options()
        options.security = .starttls
        (options.user, options.password) = ("mailer", "correct horse")
        try await MailServer.with(options) { server in
            for password in [Secret("hunter2"), nil] {
                var client = server.client(.starttls)
                (client.user, client.password) = (password.map { _ in "mailer" }, password)
                let error = await #expect(throws: SMTPError.self) { try await Self.send(client) }
                #expect(error == .notAuthenticated && error?.isPermanent == false)
                #expect(error.map { "\($0) \(String(reflecting: $0))".contains("hunter2") } == false)
            }
            let logins = try await server.logins(1)
            #expect(logins.count == 1)
        }
    }

    @Test("are not sent to a server with an untrusted, mismatched or missing certificate")
    func unsecured() async throws {
        for security in [SMTPServer.Security.starttls, .tls] {
            var options = MailServer.Options()
            options.security = security
            try await MailServer.with(options) { server in
                var client = server.client(security)
                client.authorities = nil
                await #expect(throws: SMTPError.notSecured) { try await Self.send(client) }
                client = server.client(security)
                client.host = "127.0.0.1"
                await #expect(throws: SMTPError.notSecured) { try await Self.send(client) }
            }
        }
        try await MailServer.with { server in
            let error = await #expect(throws: SMTPError.self) { try await Self.send(server.client(.starttls)) }
            #expect(error == .notSecured && error?.isPermanent == false)
            // What was not to be sent did not come before what is.
            try await Self.send(server.client())
            #expect(try await server.mails(1).count == 1)
        }
    }

    @Test(
        "are refused for good by 5xx to the recipient or the mail, for now by 4xx, or by 5xx to the sender",
        arguments: [
            ("RCPT", "550 5.1.1 no such user", SMTPError.refused(550)), ("DATA", "554 5.7.1 spam", .refused(554)),
            ("MAIL", "553 5.7.1 not your address", .senderRefused(553)), ("MAIL", "451 4.7.1 later", .deferred(451)),
            ("RCPT", "451 4.7.1 later", .deferred(451)), ("DATA", "451 4.7.1 later", .deferred(451)),
        ]
    )
    func refused(_ command: String, _ answer: String, _ expected: SMTPError) async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = (command, [answer])
        try await MailServer.with(options) { server in
            await #expect(throws: expected) { try await Self.send(server.client()) }
            #expect(expected.isPermanent == (answer.hasPrefix("5") && command != "MAIL"))
            try await Self.send(server.client())
        }
    }

    @Test("a server's refusal of our login is not taken as a refusal of the email", arguments: ["454 later", "554 no"])
    func refusedLogin(_ answer: String) async throws {
        var options = MailServer.Options()
        options.security = .starttls
        (options.user, options.password) = ("mailer", "correct horse")
        (options.at, options.answers) = ("AUTH", [answer])
        try await MailServer.with(options) { server in
            var client = server.client(.starttls)
            (client.user, client.password) = ("mailer", Secret("correct horse"))
            let error = await #expect(throws: SMTPError.self) { try await Self.send(client) }
            #expect(error == .notAuthenticated && error?.isPermanent == false)
            try await Self.send(client)
        }
    }

    @Test("a server that refuses the conversation says nothing about the mail")
    func refusedAtOnce() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("HELO", ["554 not today"])
        try await MailServer.with(options) { server in
            let error = await #expect(throws: SMTPError.self) { try await Self.send(server.client()) }
            #expect(error?.isPermanent == false)
        }
    }

    @Test("a server that is down or stalls delays other emails only briefly")
    func unreachable() async throws {
        var options = MailServer.Options()
        options.stalls = true
        let down = try await MailServer.with(options) { server in
            var client = server.client()
            client.seconds = 0.5
            await #expect(throws: SMTPError.timedOut) { try await Self.send(client) }
            return client
        }
        await #expect(throws: SMTPError.unreachable) { try await Self.send(down) }
    }

    @Test(
        "T-E4: an address with a line break, a space or a bracket is never said to the server",
        arguments: [
            "", "ada@example.com\r\nRCPT TO:<eve@example.com>", "ada@example.com\neve", "ada@example.com\0",
            "a b@example.com",
            "ada@example.com> SIZE=1", "<ada@example.com",
        ]
    )
    func odd(_ address: String) async throws {
        // Nobody listens there: to try would be another error.
        let server = SMTPServer(host: "127.0.0.1", port: 1, security: .none)
        await #expect(throws: SMTPError.invalidAddress) { try await Self.send(server, to: address) }
        await #expect(throws: SMTPError.invalidAddress) { try await Self.send(server, from: address) }
    }

    @Test("are refused after the end")
    func stopped() async throws {
        let client = SMTPClient(SMTPServer(host: "127.0.0.1", port: 1, security: .none), conversations: 1)
        await client.shutdown()
        await #expect(throws: SMTPError.stopped) {
            try await client.send(Self.message, from: "app@example.com", to: "ada@example.com")
        }
    }
}
