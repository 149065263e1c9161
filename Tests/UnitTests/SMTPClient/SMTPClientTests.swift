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
                await #expect(throws: SMTPError.untrusted) { try await Self.send(client) }
                client = server.client(security)
                client.host = "127.0.0.1"
                await #expect(throws: SMTPError.wrongName) { try await Self.send(client) }
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
        "are refused for good by 5xx about the recipient, else for now",
        arguments: [
            ("RCPT", "550 5.1.1 no such user", SMTPError.recipientRefused(SMTPReply(550, 5, 1, 1))),
            ("RCPT", "552 5.2.2 mailbox full", .recipientRefused(SMTPReply(552, 5, 2, 2))),
            ("RCPT", "550 no such user", .refused(SMTPReply(550))),
            ("RCPT", "550 relay not permitted", .refused(SMTPReply(550))),
            ("RCPT", "550 5.1.8 <app@example.com>: Sender address rejected", .refused(SMTPReply(550, 5, 1, 8))),
            ("RCPT", "554 5.7.1 Relay access denied", .refused(SMTPReply(554, 5, 7, 1))),
            ("RCPT", "504 5.5.2 <vm>: Helo command rejected", .nodeRefused(SMTPReply(504, 5, 5, 2))),
            ("RCPT", "503 bad sequence", .nodeRefused(SMTPReply(503))), ("RCPT", "530 5.7.0 log in", .notAuthenticated),
            ("DATA", "554 5.7.1 spam", .refused(SMTPReply(554, 5, 7, 1))),
            ("MAIL", "553 5.7.1 not your address", .nodeRefused(SMTPReply(553, 5, 7, 1))),
            ("MAIL", "550 5.1.1 odd", .nodeRefused(SMTPReply(550, 5, 1, 1))),
            ("MAIL", "451 4.7.1 later", .deferred(SMTPReply(451, 4, 7, 1))),
            ("RCPT", "450 4.2.0 greylisted", .deferred(SMTPReply(450, 4, 2, 0))),
            ("DATA", "451-4.7.1 please\r\n451 4.7.1 later", .deferred(SMTPReply(451, 4, 7, 1))),
            ("DATA", "451 4.7.1.2 odd", .deferred(SMTPReply(451))),
        ]
    )
    func refused(_ command: String, _ answer: String, _ expected: SMTPError) async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = (command, [answer])
        try await MailServer.with(options) { server in
            await #expect(throws: expected) { try await Self.send(server.client()) }
            #expect(expected.isPermanent == ["550 5.1.1 no such user", "552 5.2.2 mailbox full"].contains(answer))
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
        (options.at, options.answers) = ("HELO", ["554 5.1.1 not today"])
        try await MailServer.with(options) { server in
            let error = await #expect(throws: SMTPError.self) { try await Self.send(server.client()) }
            #expect(error == .nodeRefused(SMTPReply(550)) && error?.isPermanent == false)
        }
    }

    @Test("introduce themselves by the configured name, or address", arguments: ["id.example.com", "[IPv6:::1]"])
    func hello(_ name: String) async throws {
        try await MailServer.with { server in
            var client = server.client()
            client.helloName = name
            try await Self.send(client)
            #expect(try await server.hellos(1) == [name])
        }
    }

    @Test("a server that is down or stalls delays other emails only briefly")
    func unreachable() async throws {
        var options = MailServer.Options()
        options.stalls = true
        let down = try await MailServer.with(options) { server in
            var client = server.client()
            client.limits.total = 0.5
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

    @Test("wait for a slow greeting and a slow acceptance, longer than for a connection")
    func slow() async throws {
        var options = MailServer.Options()
        options.delay = 1.5
        try await MailServer.with(options) { server in
            var client = server.client()
            client.limits.connection = 0.2
            try await Self.send(client)
            #expect(try await server.mails(1).count == 1)
            client.limits.acceptance = 0.2
            await #expect(throws: SMTPError.timedOut) { try await Self.send(client) }
            client.limits.acceptance = 600
            client.limits.reply = 0.2
            await #expect(throws: SMTPError.timedOut) { try await Self.send(client) }
        }
        let limits = SMTPServer(host: "localhost").limits
        #expect(limits.reply == 300 && limits.acceptance == 600, "RFC 5321 §4.5.3.2")
    }

    @Test("share a connection, also after a refusal, and once the server has closed it")
    func connections() async throws {
        var options = MailServer.Options()
        (options.at, options.answers) = ("MAIL", ["250", "250", "421 4.7.0 no more here", "250", "450 4.1.8 later"])
        try await MailServer.with(options) { server in
            try await SMTPClient.with(server.client(), conversations: 1) { client in
                func send() async throws {
                    try await client.send(Self.message, from: "app@example.com", to: "ada@example.com")
                }
                for _ in 0..<2 { try await send() }
                #expect(try await server.hellos(1).count == 1)
                try await send()
                #expect(try await server.mails(3).count == 3, "the 421 was about the connection")
                #expect(try await server.hellos(2).count == 2)
                await #expect(throws: SMTPError.deferred(SMTPReply(450, 4, 1, 8))) { try await send() }
                try await send()
                #expect(try await server.mails(4).count == 4)
                #expect(try await server.hellos(3).count == 3)
            }
        }
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
