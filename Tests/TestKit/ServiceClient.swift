package import HTTPTypes
package import IdentityService
package import NIOCore
package import StrictJSON
import Text

/// Calls the service without sockets, and holds every answer against `openapi.yaml`.
package struct ServiceClient: Sendable {
    private let responder: ServiceResponder
    private let document: OpenAPIDocument?
    private let peerAddress: String?
    /// Sent with every request, like a header of the same name.
    package var headers: HTTPFields = [:]

    /// - Parameter document: nil for answers that are deliberately not described.
    package init(
        _ responder: ServiceResponder,
        document: OpenAPIDocument?,
        peerAddress: String? = "127.0.0.1"
    ) {
        self.responder = responder
        self.document = document
        self.peerAddress = peerAddress
    }

    /// - Throws: ``UndescribedAnswer``.
    package func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        bytes: ByteBuffer
    ) async throws -> ServiceAnswer {
        var fields = self.headers
        for field in headers { fields[field.name] = field.value }
        let response = await responder.respond(
            to: Request(
                method: method,
                target: path,
                headers: fields,
                body: bytes,
                peer: peerAddress.flatMap { IPAddress(caller: $0) }
            )
        )
        let answer = ServiceAnswer(
            status: response.status.code,
            headers: response.headers,
            body: String(buffer: response.body)
        )
        try document?.require(
            method.rawValue,
            path,
            status: answer.status,
            contentType: answer.headers[.contentType],
            body: answer.body
        )
        return answer
    }

    package func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: String = ""
    ) async throws -> ServiceAnswer {
        try await call(method, path, headers: headers, bytes: ByteBuffer(string: body))
    }

    package func post(_ path: String, _ json: String, headers: HTTPFields = [:]) async throws -> ServiceAnswer {
        var headers = headers
        headers[.contentType] = headers[.contentType] ?? "application/json"
        return try await call(.post, path, headers: headers, body: json)
    }
}

package struct ServiceAnswer: Sendable, CustomStringConvertible {
    package var status: Int
    package var headers: HTTPFields
    package var body: String

    /// The body as JSON; null for anything else.
    package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// `error.message`.
    package var message: String? { json["error"]?["message"]?.text }

    package var description: String { "\(status) \(body)" }
}
