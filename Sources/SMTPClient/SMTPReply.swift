/// The numbers of a server's response; its text is not kept, because it can quote an address.
package struct SMTPReply: Sendable, Hashable, CustomStringConvertible {
    package var code: Int
    /// Class, subject and detail, such as 5.1.1 (RFC 3463); empty for a server that sends none.
    package var status: [Int]

    package init(_ code: Int, _ status: Int...) { (self.code, self.status) = (code, status) }

    /// Reads a line of a response, such as `550 5.1.1 No such user`.
    init?(line: String) {
        guard
            let match = line.prefixMatch(
                of: /([2-5][0-9]{2})(?:[ -](?:([245])\.([0-9]{1,3})\.([0-9]{1,3})(?![0-9.]))?)?/
            ),
            let code = Int(match.1)
        else { return nil }
        self.code = code
        status = [match.2, match.3, match.4].compactMap { $0.flatMap { Int($0) } }
    }

    package var description: String {
        status.isEmpty ? "\(code)" : "\(code) \(status.map { "\($0)" }.joined(separator: "."))"
    }

    /// Whether it is about the recipient: an address that cannot be, or a mailbox that does not exist or takes nothing.
    var isAboutRecipient: Bool {
        guard status.count == 3 else { return false }
        // 5.1.7 and 5.1.8 are about the sender, 5.1.0 and 5.1.9 about either.
        return status[1] == 2 || status[1] == 1 && [1, 2, 3, 4, 6, 10].contains(status[2])
    }

    /// Whether it is about the conversation, not about an email: a command out of order, an EHLO name, a missing login.
    ///
    /// Servers give it to `RCPT` (Postfix's `smtpd_delay_reject`).
    var isAboutClient: Bool { [503, 504, 530].contains(code) || status.count == 3 && status[1] == 5 }
}
