package import Secrets

/// A server that takes mails, and how to speak with it.
package struct SMTPServer: Sendable {
    package enum Security: String, Sendable, CaseIterable {
        /// Plain until STARTTLS, without which nothing is sent (RFC 3207).
        case starttls
        /// TLS from the first byte (RFC 8314).
        case tls
        /// No TLS: for a server on the same machine.
        case none

        /// The port that is usual for it.
        package var port: Int {
            switch self {
            case .starttls: 587
            case .tls: 465
            case .none: 25
            }
        }
    }

    /// A name or an address; one of IPv6 without brackets.
    package var host: String
    package var port: Int
    package var security: Security
    /// Nil for a server that asks for no user.
    package var user: String?
    package var password: Secret?
    /// A PEM file of the authorities that may certify the server; nil for the system's.
    package var authorities: String?
    /// Seconds until a connection must stand.
    package var connectSeconds = 10.0
    /// Seconds until the server must have taken a mail, and as many until it must have said farewell.
    package var seconds = 50.0

    package init(host: String, port: Int? = nil, security: Security = .starttls) {
        self.host = host
        self.port = port ?? security.port
        self.security = security
    }
}
