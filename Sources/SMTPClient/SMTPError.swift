/// Why an email was not accepted.
///
/// It contains nothing from the email, the password, or the server's text, which can quote an address.
package enum SMTPError: Error, Equatable, CustomStringConvertible {
    /// The server's name has no address.
    case unknownHost
    /// No connection: the port is closed.
    case unreachable
    case timedOut
    /// No TLS, or a version or certificate that cannot be used.
    case notSecured
    /// A certificate of an unknown authority, or one that has expired.
    case untrusted
    /// A certificate for another name.
    case wrongName
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
        case .unknownHost, .unreachable, .timedOut, .notSecured, .untrusted, .wrongName, .notAuthenticated,
            .interrupted, .deferred, .nodeRefused, .refused, .stopped:
            false
        }
    }

    /// Whether the server spoke about the recipient, and so works.
    package var isAboutRecipient: Bool {
        switch self {
        case .deferred(let reply): reply.isAboutRecipient
        case .recipientRefused, .invalidAddress: true
        case .unknownHost, .unreachable, .timedOut, .notSecured, .untrusted, .wrongName, .notAuthenticated,
            .interrupted, .nodeRefused, .refused, .stopped:
            false
        }
    }

    package var description: String {
        switch self {
        case .unknownHost: "the mail server's name has no address"
        case .unreachable: "the mail server's port is closed"
        case .timedOut: "the mail server did not respond in time"
        case .notSecured: "the mail server does not speak TLS as required"
        case .untrusted: "the mail server's certificate is not trusted"
        case .wrongName: "the mail server's certificate is for another name"
        case .notAuthenticated: "the mail server refused the login, or requires one"
        case .interrupted: "the mail server closed the connection"
        case .deferred(let reply): "the mail server responded \(reply)"
        case .nodeRefused(let reply): "the mail server refused this node or the sender: \(reply)"
        case .refused(let reply): "the mail server refused the email: \(reply)"
        case .recipientRefused(let reply): "the mail server refused the recipient: \(reply)"
        case .invalidAddress: "the address cannot be used"
        case .stopped: "there is no mail server"
        }
    }
}
