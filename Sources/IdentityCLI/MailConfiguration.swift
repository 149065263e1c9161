import Configuration
import Delivery
import Foundation
import SMTPClient
import Secrets
import Text

/// The node's SMTP server, and the sender of its emails.
struct MailConfiguration: Sendable {
    var server: SMTPServer
    var sender: MailAddress

    /// - `mail.smtp.host`: without it this node sends no emails.
    /// - `mail.smtp.tls` (`starttls`, `tls` or, only on loopback, `none`; default `starttls`).
    /// - `mail.smtp.port` (1…65535, default 587, with `tls` 465, with `none` 25).
    /// - `mail.smtp.user`, `mail.smtp.password` (secret): both or neither.
    /// - `mail.smtp.from` (required): `mail@example.com` or `Example <mail@example.com>`.
    /// - `mail.smtp.authorities`: a PEM file of the authorities that sign the server's certificate, instead of the
    ///   system's.
    /// - `mail.smtp.helloName` (default: the host of `http.publicURL`): the name in EHLO.
    init?(_ reader: ConfigReader, publicURL: String?) throws {
        func text(_ key: ConfigKey, isSecret: Bool = false) -> String? {
            reader.string(forKey: key, isSecret: isSecret).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let host = text("mail.smtp.host") else { return nil }
        guard host.consists(of: .alphanumerics + "-_.:") else {
            throw CommandFailure.configuration("mail.smtp.host must be a name or an address")
        }
        let word = text("mail.smtp.tls") ?? SMTPServer.Security.starttls.rawValue
        guard let security = SMTPServer.Security(rawValue: word) else {
            throw CommandFailure.configuration("mail.smtp.tls must be starttls, tls or none")
        }
        guard security != .none || Self.isLoopback(host) else {
            throw CommandFailure.configuration("mail.smtp.tls may be none only for a server on this machine")
        }
        server = SMTPServer(host: host, security: security)
        server.port = try ServiceConfiguration.integer(
            "mail.smtp.port",
            in: 1...65_535,
            default: security.port,
            reader
        )
        server.helloName = text("mail.smtp.helloName") ?? publicURL.flatMap(Self.helloName)
        guard server.helloName?.consists(of: .alphanumerics + "-_.:[]") ?? true else {
            throw CommandFailure.configuration("mail.smtp.helloName must be a name, or an address in brackets")
        }
        server.user = text("mail.smtp.user")
        server.password = text("mail.smtp.password", isSecret: true).map { Secret($0) }
        guard (server.user == nil) == (server.password == nil) else {
            throw CommandFailure.configuration("set both mail.smtp.user and mail.smtp.password")
        }
        server.authorities = text("mail.smtp.authorities")
        if let file = server.authorities, !FileManager.default.isReadableFile(atPath: file) {
            throw CommandFailure.configuration("mail.smtp.authorities cannot be read")
        }
        guard let sender = text("mail.smtp.from").flatMap(MailAddress.init(parsing:)) else {
            throw CommandFailure.configuration(
                "mail.smtp.from must be an address such as Example <mail@example.com> (IDENTITY_MAIL_SMTP_FROM)"
            )
        }
        self.sender = sender
    }

    /// The host of a URL, an address as a literal (RFC 5321 §4.1.3).
    private static func helloName(_ url: String) -> String? {
        guard let url = URLParts(url), let host = url.host, let address = url.address else {
            return URLParts(url)?.host
        }
        return address.isIPv6 ? "[IPv6:\(host.filter { !"[]".contains($0) })]" : "[\(host)]"
    }

    /// `127.0.0.1.example.com` is another host.
    private static func isLoopback(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "::1"].contains(host)
    }
}
