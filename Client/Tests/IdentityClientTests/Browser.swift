import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A user at the pages of the demo providers, in a browser that follows no redirect and runs no script.
struct Browser: Sendable {
    /// Chooses an account with an email on a provider's page, and returns where the provider leads.
    static func choose(email: String, on page: URL) async throws -> URL {
        try await send(
            [
                "choice": "other", "email": email, "name": "Ada", "screen_name": email.prefix { $0 != "@" }.description,
                "verified": "true",
            ],
            to: page
        )
    }

    /// Presses Cancel, and returns where the provider leads.
    static func cancel(on page: URL) async throws -> URL { try await send(["choice": "cancel"], to: page) }

    private static func send(_ fields: [String: String], to page: URL) async throws -> URL {
        var components = URLComponents(url: page, resolvingAgainstBaseURL: false)
        let form =
            (components?.percentEncodedQuery ?? "") + "&"
            + fields.map { "\($0)=\($1.replacingOccurrences(of: "@", with: "%40"))" }.joined(separator: "&")
        components?.query = nil
        guard let url = components?.url else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(form.utf8)
        let (_, response) = try await session.data(for: request)
        guard let location = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location"),
            let target = URL(string: location)
        else { throw URLError(.badServerResponse) }
        return target
    }

    /// Loads a page, and returns its text.
    @discardableResult
    static func open(_ url: URL) async throws -> String {
        let (data, _) = try await session.data(from: url)
        return String(decoding: data, as: UTF8.self)
    }

    private static let session = URLSession(configuration: .ephemeral, delegate: Staying(), delegateQueue: nil)

    private final class Staying: NSObject, URLSessionTaskDelegate {
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
}
