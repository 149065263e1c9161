package import HTTPTypes

/// One request to another service.
///
/// It is sent once: never repeated, never redirected.
package struct OutboundRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Absolute, already percent-encoded.
    package var url: String
    /// `User-Agent` and `Host` are set by the client.
    package var headers: HTTPFields
    package var body: [UInt8]
    /// Bytes of the response body above which the request fails; nil for the client's limit, which it cannot exceed.
    package var maximumResponseSize: Int?
    /// Time for the whole; nil for the client's limit, which it cannot exceed.
    package var timeLimit: Duration?
    /// Whether who is called belongs to the operator and may see the `tracestate` of a request, which can name the systems
    /// that it went through.
    package var sharesTraceState = false

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

/// The answer to an ``OutboundRequest``, read to its end.
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
