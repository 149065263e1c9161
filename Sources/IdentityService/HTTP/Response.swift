package import HTTPTypes
package import NIOCore

/// A complete response, or the first part of one that is sent as it is made.
package struct Response: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: ByteBuffer
    /// Makes the next part of the body, each after the client has taken the previous one; nil at the end.
    ///
    /// If it throws, the connection is closed, so that no client takes what it has for the whole.
    package var nextPart: (@Sendable () async throws -> ByteBuffer?)?

    package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
