import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

import class Foundation.JSONSerialization
import Text

/// HTTP to this computer alone, one request and its answer, no redirects, no cookies.
package enum PlainHTTP {
    /// Lives as long as the process, so that no test has to shut it down.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .minutes(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Tests send many requests at once, and none of them is to wait for another.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.timeout.read = .minutes(10)
        return HTTPClient(configuration: configuration)
    }()

    /// - Throws: ``PlainHTTPError/notLoopback(_:)`` before anything is sent; the client's own errors for a connection that
    ///   breaks.
    package static func send(
        _ method: String = "GET",
        _ url: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> PlainResponse {
        guard let parts = URLParts(url), parts.scheme == "http", parts.isLoopback else {
            throw PlainHTTPError.notLoopback(url)
        }
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: .minutes(10))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        return PlainResponse(
            status: Int(response.status.code),
            headers: response.headers.map { (name: $0.name, value: $0.value) },
            body: Array(buffer: bytes)
        )
    }

    /// A POST of form fields, percent-encoded.
    package static func post(
        _ url: String,
        form: [(String, String)],
        headers: [(String, String)] = []
    ) async throws -> PlainResponse {
        try await send(
            "POST",
            url,
            headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers,
            body: Array(FormFields(pairs: form).text.utf8)
        )
    }
}

package enum PlainHTTPError: Error {
    case notLoopback(String)
    case notAnObject
}

package struct PlainResponse: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The first header of that name, in any letter case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The members of a JSON object.
    package func json() throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: .init(body)) as? [String: Any] else {
            throw PlainHTTPError.notAnObject
        }
        return object
    }
}
