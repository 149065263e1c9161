package import Secrets

/// An SMTP server, and how to connect to it.
package struct SMTPServer: Sendable {
    package enum Security: String, Sendable, CaseIterable {
        /// Plain until STARTTLS, which is required (RFC 3207).
        case starttls
        /// TLS from the first byte (RFC 8314).
        case tls
        /// No TLS: for a server on the same machine.
        case none

        /// The default port.
        package var port: Int {
            switch self {
            case .starttls: 587
            case .tls: 465
            case .none: 25
            }
        }
    }

    /// A name or an address; an IPv6 address without brackets.
    package var host: String
    package var port: Int
    package var security: Security
    /// Nil for a server without authentication.
    package var user: String?
    package var password: Secret?
    /// A PEM file of authorities that may sign the server's certificate; nil for the system's.
    package var authorities: String?
    /// The time limit for a connection, in seconds.
    package var connectSeconds = 10.0
    /// The time limit for the server to accept an email, and again to end the connection, in seconds.
    package var seconds = 50.0

    package init(host: String, port: Int? = nil, security: Security = .starttls) {
        self.host = host
        self.port = port ?? security.port
        self.security = security
    }
}
