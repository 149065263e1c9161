package import HTTPTypes
package import NIOCore
package import Text

/// A received request.
package struct Request: Sendable {
    package var method: HTTPRequest.Method
    /// The target's path, percent-encoded.
    package var path: String
    /// The target's part after `?`; empty without one.
    package var query: String
    package var headers: HTTPFields
    /// At most the route's limit; empty for `GET` and `DELETE`, whose bodies are ignored.
    package var body: ByteBuffer
    /// The sender; nil for a socket without addresses.
    package var peer: IPAddress?
    /// See ``Accounts/Caller/longestIDToken``.
    var longestIDToken: Int?
    /// Set if the request must be refused: its body was not kept, or the server has no room.
    package var refusal: WireError?

    /// The default limit: 1 MiB.
    package static let maximumBody = 1 << 20

    /// The largest target in bytes: path and query.
    package static let maximumTarget = 16 << 10
    /// The limit without an admin's credential, for operations that use one or that anyone with an API key may call:
    /// 128 KiB.
    package static let maximumClientBody = 128 << 10

    /// - Parameter target: of the request line (RFC 9112 §3.2), `/v1/token?key=k`.
    package init(
        method: HTTPRequest.Method,
        target: String,
        headers: HTTPFields = [:],
        body: ByteBuffer = ByteBuffer(),
        peer: IPAddress? = nil
    ) {
        self.method = method
        let text = target.utf8
        if let mark = text.firstIndex(of: UInt8(ascii: "?")) {
            path = String(target[..<mark])
            query = String(target[text.index(after: mark)...])
        } else {
            path = target
            query = ""
        }
        self.headers = headers
        self.body = Self.hasBody(method) ? body : ByteBuffer()
        self.peer = peer
    }

    /// Whether the body is compressed, or coded in another way (RFC 9110 §8.4).
    var hasCodedBody: Bool {
        Self.hasBody(method)
            && headers[values: .contentEncoding].joined(separator: ",").split(separator: ",").contains {
                !["", "identity"].contains($0.filter { !$0.isWhitespace }.lowercased())
            }
    }

    static func hasBody(_ method: HTTPRequest.Method) -> Bool { method == .post || method == .patch || method == .put }
}
