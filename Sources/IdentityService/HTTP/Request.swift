package import HTTPTypes
package import NIOCore

/// One request, as it came.
package struct Request: Sendable {
    package var method: HTTPRequest.Method
    /// The target's path, percent-encoded.
    package var path: String
    /// What stands behind the target's `?`; empty without one.
    package var query: String
    package var headers: HTTPFields
    /// At most as many bytes as the route takes; empty for methods that have none here: a body of `GET` or `DELETE` is ignored.
    package var body: ByteBuffer
    /// Who sent it; nil for a socket without addresses.
    package var peer: NetworkAddress?
    /// Why it is not to be answered otherwise: a body that was not kept, or a server that has no room.
    package var refusal: WireError?

    /// Of routes that ask for no more: 1 MiB.
    package static let maximumBody = 1 << 20

    /// - Parameter target: of the request line (RFC 9112 §3.2), `/v1/token?key=k`.
    package init(
        method: HTTPRequest.Method,
        target: String,
        headers: HTTPFields = [:],
        body: ByteBuffer = ByteBuffer(),
        peer: NetworkAddress? = nil
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

    static func hasBody(_ method: HTTPRequest.Method) -> Bool { method == .post || method == .patch || method == .put }
}
