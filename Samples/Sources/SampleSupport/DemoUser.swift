import Foundation
import IdentityClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Presses the buttons of a demo provider's page by HTTP.
///
/// Only for tests: a real provider needs a user and a browser.
struct DemoUser {
    private let step: SampleBrowser.Step

    init(_ step: SampleBrowser.Step) { self.step = step }

    /// Visits the page, submits one of its forms, and returns what arrives at the redirect URI.
    func visit(_ page: URL) async throws -> ProviderCallback {
        let (html, location) = try await send(URLRequest(url: page))
        // With `prompt=none`, the provider shows no page.
        if let location { return try callback(location) }
        var request = URLRequest(url: try provider(of: page))
        request.httpMethod = "POST"
        request.httpBody = Data(Self.encode(try fields(of: html)).utf8)
        let (answer, target) = try await send(request)
        if let target { return try callback(target) }
        // Apple's page submits itself to the redirect URI.
        guard let action = answer.firstMatch(of: /<form method="post" action="([^"]*)"/),
            let url = URL(string: Self.unescape(action.1))
        else { throw Failure("the page leads nowhere") }
        return ProviderCallback(url: url, form: Self.encode(Self.inputs(of: answer)))
    }

    private func provider(of page: URL) throws -> URL {
        guard let text = page.absoluteString.split(separator: "?").first, let url = URL(string: String(text)) else {
            throw Failure("not a page: \(page)")
        }
        return url
    }

    private func callback(_ location: String) throws -> ProviderCallback {
        // As browsers do: http://localhost?code=… becomes http://localhost/?code=…
        let text = location.replacing(/^(https?:\/\/[^\/?#]*)([?#])/) { "\($0.1)/\($0.2)" }
        guard let url = URL(string: text) else { throw Failure("not a URL: \(location)") }
        return ProviderCallback(url: url)
    }

    /// The fields of the form that the user submits.
    private func fields(of html: String) throws -> [(String, String)] {
        let (mark, typed): (String, [(String, String)]) =
            switch step {
            case .add(let email): (#"id="main-form""#, [("email", email), ("name", "Ada"), ("verified", "on")])
            case .choose(let name): ("<b>\(name)</b>", [])
            case .cancel: (#"id="cancel-button""#, [])
            }
        guard let form = html.components(separatedBy: "<form").first(where: { $0.contains(mark) }) else {
            throw Failure("the page has no button for: \(step)")
        }
        return Self.inputs(of: form) + typed
    }

    private static func inputs(of html: String) -> [(String, String)] {
        html.matches(of: /name="([^"]*)" value="([^"]*)"/).map { (String($0.1), unescape($0.2)) }
    }

    private static func unescape(_ text: some StringProtocol) -> String {
        [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
            .reduce(String(text)) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    private static func encode(_ fields: [(String, String)]) -> String {
        fields.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        .joined(separator: "&")
    }

    private func send(_ request: URLRequest) async throws -> (html: String, location: String?) {
        let (data, response) = try await Self.session.data(for: request)
        let location = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location")
        return (String(decoding: data, as: UTF8.self), location)
    }

    private static let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)

    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
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
