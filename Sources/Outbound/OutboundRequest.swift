package import HTTPTypes

/// A request to another service.
///
/// It is sent once: never repeated, never redirected.
package struct OutboundRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Absolute, already percent-encoded.
    package var url: String
    /// `User-Agent` and `Host` are set by the client.
    package var headers: HTTPFields
    package var body: [UInt8]
    /// The maximum size of the response body in bytes; nil for the client's limit, which is also the maximum.
    package var maximumResponseSize: Int?
    /// The total time; nil for the client's limit, which is also the maximum.
    package var timeLimit: Duration?
    /// Whether the called service belongs to the operator and may receive `tracestate`, which can name the systems that
    /// a request passed through.
    package var sharesTraceState = false
    /// Whether only the status and the headers of the response matter, whatever its body is; the body is left out.
    package var ignoresBody = false
    /// Whether somebody for whom no admin vouches named the URL: what the operator allows for providers is not for them
    /// (threats.md, T-F10).
    package var isForStranger = false

    package init(
        method: HTTPRequest.Method = .get,
        url: String,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        maximumResponseSize: Int? = nil,
        timeLimit: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.maximumResponseSize = maximumResponseSize
        self.timeLimit = timeLimit
    }
}

/// The complete response to an ``OutboundRequest``.
package struct OutboundResponse: Sendable {
    package var status: Int
    package var headers: HTTPFields
    package var body: [UInt8]

    package init(status: Int, headers: HTTPFields, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}
