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
    /// The name in EHLO: one with a domain, or an address in brackets; nil for the machine's, which servers may refuse.
    package var helloName: String?
    /// Nil for a server without authentication.
    package var user: String?
    package var password: Secret?
    /// A PEM file of authorities that may sign the server's certificate; nil for the system's.
    package var authorities: String?
    package var limits = Limits()

    /// Time limits in seconds; servers may take as long as RFC 5321 §4.5.3.2 lets them.
    package struct Limits: Sendable {
        /// For a TCP connection.
        package var connection = 10.0
        /// For the greeting, and for each response.
        package var reply = 300.0
        /// For the response to a whole email, which the server may search for spam and viruses.
        package var acceptance = 600.0
        /// For all of it.
        package var total = 1_200.0
        /// For what is left when the node stops.
        package var stopping = 50.0
    }

    package init(host: String, port: Int? = nil, security: Security = .starttls) {
        self.host = host
        self.port = port ?? security.port
        self.security = security
    }
}
