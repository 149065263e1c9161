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
    case deferred(Int)
    /// A response of 500 to 599 to the sender, which the operator configured, so the email itself is not the problem.
    case senderRefused(Int)
    /// A response of 500 to 599 to the recipient, or to the email itself.
    case refused(Int)
    /// An address that is not allowed in an SMTP command.
    case invalidAddress
    /// The client was shut down.
    case stopped

    /// Whether the email will never be accepted; other errors may pass, or an admin may fix them.
    package var isPermanent: Bool {
        switch self {
        case .refused, .invalidAddress: true
        case .unreachable, .timedOut, .notSecured, .notAuthenticated, .interrupted, .deferred, .senderRefused, .stopped:
            false
        }
    }
}
