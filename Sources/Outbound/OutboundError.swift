/// Why an outgoing request has no usable response.
///
/// A status such as 500 is a response, not an error. The description contains nothing from the URL, the body or the
/// response.
package enum OutboundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not an absolute https URL with a host, or one with credentials or a fragment; http is only allowed for loopback,
    /// where loopback is allowed.
    case invalidURL
    /// The host is, or resolves to, an address that the service must not call: loopback, private, link-local, metadata,
    /// multicast, reserved.
    case refusedAddress
    /// The name does not resolve, the port is closed, TLS fails, or the connection broke.
    case unreachable
    /// One of the times in ``OutboundLimits`` has passed.
    case timedOut
    /// The body is larger than the request allows.
    case tooLarge
    /// The response is not valid HTTP, or is compressed although that was not requested.
    case malformedResponse
    /// Too many requests to this host are in progress.
    case busy
    /// The client is shut down, or the caller's task was cancelled.
    case cancelled

    package var description: String {
        switch self {
        case .invalidURL: "the URL may not be called"
        case .refusedAddress: "the address may not be called"
        case .unreachable: "the host cannot be reached"
        case .timedOut: "the host did not respond in time"
        case .tooLarge: "the response is too large"
        case .malformedResponse: "the response is not valid HTTP"
        case .busy: "too many requests to the host"
        case .cancelled: "the request was cancelled"
        }
    }
}
