import Foundation
package import SMTPClient

/// An SMTP server on loopback, in a process of its own (aiosmtpd).
package struct MailServer: Sendable {
    package let port: Int
    private let program: Program
    /// The authority that certified it, when it speaks TLS.
    package let certificate: String?

    package struct Options: Sendable {
        /// 0 for any.
        package var port = 0
        package var security = SMTPServer.Security.none
        /// The name or address in its certificate.
        package var name = "localhost"
        package var user: String?
        package var password: String?
        /// The only one of PLAIN and LOGIN.
        package var mechanism: String?
        /// The command that gets ``answers``: HELO, AUTH, MAIL, RCPT or DATA.
        package var at = "DATA"
        /// One for each mail, such as `550 no such user`; later mails are taken.
        package var answers: [String] = []
        /// Seconds before the greeting, and before a mail is taken.
        package var delay = 0.0
        /// Takes a mail and never answers.
        package var stalls = false

        package init() {}
    }

    /// Runs `body` with a server that listens; afterwards it has ended.
    package static func with<R>(
        _ options: Options = Options(),
        _ body: (MailServer) async throws -> R
    ) async throws -> R {
        try await withTemporaryFolder { folder in
            var arguments = [script, "--port", "\(options.port)", "--at", options.at]
            arguments += ["--answers", options.answers.joined(separator: ",")]
            if options.security != .none {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                try await TestCertificate.make(for: options.name, in: folder)
                arguments += ["--certificate", "\(folder)/certificate.pem", "--key", "\(folder)/key.pem"]
            }
            if options.security == .tls { arguments.append("--tls") }
            if let user = options.user { arguments += ["--user", user, "--password", options.password ?? ""] }
            if let mechanism = options.mechanism { arguments += ["--mechanism", mechanism] }
            if options.delay > 0 { arguments += ["--delay", "\(options.delay)"] }
            if options.stalls { arguments.append("--stall") }
            return try await Program.with(python, arguments) { program in
                let line = try await program.line(beginningWith: #"{"port""#)
                let port = try JSON(parsing: Array(line.utf8))["port"]?.number ?? 0
                let certificate = options.security == .none ? nil : "\(folder)/certificate.pem"
                return try await body(
                    MailServer(port: Int(port), program: program, certificate: certificate)
                )
            }
        }
    }

    /// How to speak with it.
    package func client(_ security: SMTPServer.Security = .none) -> SMTPServer {
        var server = SMTPServer(host: "localhost", port: port, security: security)
        server.authorities = certificate
        return server
    }

    /// Ends it, whatever it is doing.
    package func crash() { program.crash() }

    /// The mails that came until now, refused ones included, once there are so many.
    package func mails(_ count: Int) async throws -> [JSON] {
        try await waitUntil { try lines.count { $0["mail"] != nil } >= count }
        return try lines.filter { $0["mail"] != nil }
    }

    /// The mechanisms of the logins until now, once there are so many.
    package func logins(_ count: Int) async throws -> [String] {
        try await waitUntil { try lines.count { $0["login"] != nil } >= count }
        return try lines.compactMap { $0["login"]?.string }
    }

    /// The names in EHLO until now, once there are so many.
    package func hellos(_ count: Int) async throws -> [String] {
        try await waitUntil { try lines.count { $0["hello"] != nil } >= count }
        return try lines.compactMap { $0["hello"]?.string }
    }

    private var lines: [JSON] {
        get throws { try program.written.output.map { try JSON(parsing: Array($0.utf8)) } }
    }

    private static let script = IdentityProgram.repository.appending(path: "Tests/TestKit/Mail/mail_server.py").path
    /// `scripts/venv` makes it.
    private static let python = IdentityProgram.repository.appending(path: ".venv/bin/python").path
}
