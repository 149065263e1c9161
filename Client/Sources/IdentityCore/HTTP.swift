package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Sends requests with `URLSession`: no redirects, no cookies, no cache, 15 seconds of silence and 30 in all.
package enum HTTP {
    package struct Response: Sendable {
        package var status: Int
        package var body: Data
        /// The delay in seconds of `Retry-After`, at most an hour; nil without one, or with a date.
        package var retryAfter: Duration?
    }

    /// - Throws: `URLError`, or `CancellationError`.
    package static func send(_ request: URLRequest) async throws -> Response {
        do {
            let (body, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
            return Response(
                status: response.statusCode,
                body: body,
                retryAfter: seconds.map { .seconds(min(max($0, 0), 3600)) }
            )
        } catch let error as URLError where error.code == .cancelled {
            throw CancellationError()
        }
    }

    /// Whether a URL is one that secrets may be sent to: https, or http on this machine.
    package static func isSecure(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": url.host?.isEmpty == false
        case "http": ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host?.lowercased())
        default: false
        }
    }

    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 15
        configuration.timeoutIntervalForResource = 30
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
    }()
}

/// Returns a redirect as the response, so that a credential never reaches another host.
private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
