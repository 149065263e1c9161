/// Why an email was not accepted.
///
/// It contains nothing from the email, the password, or the server's text, which can quote an address.
package enum SMTPError: Error, Equatable {
    /// No connection: the name is unknown or the port is closed.
    case unreachable
    case timedOut
    /// No TLS, or an invalid certificate.
    case notSecured
    /// The server refuses the user, or requires one.
    case notAuthenticated
    /// The connection broke, or never got to the email.
    case interrupted
    /// A response of 400 to 499: the server may accept the email later.
    case deferred(SMTPReply)
    /// A response of 500 to 599 about this node: to its connection, to the sender, or for what the operator configured,
    /// so the email itself is not the problem.
    case nodeRefused(SMTPReply)
    /// A response of 500 to 599 to the recipient or to the email, which does not say whether another one would be accepted.
    case refused(SMTPReply)
    /// A response of 500 to 599 that says that the recipient does not exist or receives nothing.
    case recipientRefused(SMTPReply)
    /// An address that is not allowed in an SMTP command.
    case invalidAddress
    /// The client was shut down.
    case stopped

    /// Whether the email will never be accepted; other errors may pass, or an admin may fix them.
    package var isPermanent: Bool {
        switch self {
        case .recipientRefused, .invalidAddress: true
        case .unreachable, .timedOut, .notSecured, .notAuthenticated, .interrupted, .deferred, .nodeRefused, .refused,
            .stopped:
            false
        }
    }

    /// Whether the server spoke about the recipient, and so works.
    package var isAboutRecipient: Bool {
        switch self {
        case .deferred(let reply): reply.isAboutRecipient
        case .recipientRefused, .invalidAddress: true
        case .unreachable, .timedOut, .notSecured, .notAuthenticated, .interrupted, .nodeRefused, .refused, .stopped:
            false
        }
    }
}
