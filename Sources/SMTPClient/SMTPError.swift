/// Why a mail was not taken.
///
/// It holds nothing of the mail, the password, or what the server wrote, which can quote an address.
package enum SMTPError: Error, Equatable {
    /// No connection: the name is unknown or nobody listens.
    case unreachable
    case timedOut
    /// No TLS, or a certificate that is not the server's.
    case notSecured
    /// The server refuses the user, or wants one.
    case notAuthenticated
    /// The conversation broke off, or never got to the mail.
    case interrupted
    /// An answer of 400 to 499: the same mail may be taken later.
    case deferred(Int)
    /// An answer of 500 to 599 to the sender, which is the operator's: no mail is to blame.
    case senderRefused(Int)
    /// An answer of 500 to 599 to the recipient, or to the mail itself.
    case refused(Int)
    /// An address that does not fit into a line of SMTP.
    case invalidAddress
    /// The client was shut down.
    case stopped

    /// Whether the same mail will never be taken; all else may pass, or an admin may mend it.
    package var isPermanent: Bool {
        switch self {
        case .refused, .invalidAddress: true
        case .unreachable, .timedOut, .notSecured, .notAuthenticated, .interrupted, .deferred, .senderRefused, .stopped:
            false
        }
    }
}
