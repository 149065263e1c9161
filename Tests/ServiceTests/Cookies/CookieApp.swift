import Foundation
import Projects
import Synchronization
import TestKit

/// A browser with a page of an app that has `browserCookiePersistence`, on a host that passes `/__cookies__` on.
final class CookieApp: Sendable {
    let service: TestService
    private let jar = Mutex<[String: String]>([:])

    init(_ service: TestService) { self.service = service }

    static let origin = "https://app.example.com"
    static let placeholder = "REDACTED"

    /// Runs it where the app's host is the project's.
    static func run(
        _ options: TestService.Options = TestService.Options(),
        _ body: @Sendable (CookieApp) async throws -> Void
    ) async throws {
        var options = options
        options.settings.authorizedDomains = ["app.example.com", "127.0.0.1"]
        try await TestService.run(options) { try await body(CookieApp($0)) }
    }

    // MARK: Cookies

    var cookies: [String: String] { jar.withLock { $0 } }
    var idToken: String? { cookies["__HOST-FIREBASE_[DEFAULT]"] }
    var refreshTokenName: String { "__HOST-FIREBASEID_\(service.project.id)_[DEFAULT]" }
    var refreshToken: String? { cookies[refreshTokenName] }

    func set(_ name: String, _ value: String?) { jar.withLock { $0[name] = value } }

    private func keep(_ reply: Reply) {
        for header in reply.setCookies {
            let pair = header.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            set(String(pair[0]), header.contains("Max-Age=0;") ? nil : String(pair[1]))
        }
    }

    // MARK: Requests

    /// What the SDK would have called: on the service's own host, and with the project's key, unless said otherwise.
    func target(_ path: String, host: String = "https://id.example.com", key: String? = nil) -> String {
        "\(host)/\(path)?key=\(key ?? service.apiKey)"
    }

    static func path(_ target: String?, appName: String? = nil) -> String {
        var query: [String] = []
        if let target {
            let allowed = CharacterSet.alphanumerics
            query.append("finalTarget=\(target.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")")
        }
        if let appName { query.append("appName=\(appName)") }
        return "/__cookies__" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// - Parameters:
    ///   - target: nil for none.
    ///   - origin: the page's; nil for a request without one.
    ///   - site: `Sec-Fetch-Site`; nil for a browser without Fetch Metadata.
    @discardableResult
    func send(
        _ method: String = "POST",
        to target: String?,
        _ body: String = "",
        type: String = "application/json",
        appName: String? = nil,
        origin: String? = CookieApp.origin,
        site: String? = "same-origin"
    ) async throws -> Reply {
        var headers = [("Content-Type", type)]
        if let origin { headers.append(("Origin", origin)) }
        if let site { headers.append(("Sec-Fetch-Site", site)) }
        let cookies = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if !cookies.isEmpty { headers.append(("Cookie", cookies)) }
        let path = Self.path(target, appName: appName)
        let reply = try await service.send(method, path, headers: headers, body: Array(body.utf8))
        keep(reply)
        return reply
    }

    // MARK: What the SDK does

    @discardableResult
    func signIn(_ email: String = "ada@example.com", appName: String? = nil) async throws -> Reply {
        let body: JSON = ["email": .string(email), "password": "correct horse", "returnSecureToken": true]
        let target = target("identitytoolkit.googleapis.com/v1/accounts:signInWithPassword")
        return try await send(to: target, body.text, appName: appName)
    }

    @discardableResult
    func refresh(_ token: String = CookieApp.placeholder, key: String? = nil) async throws -> Reply {
        try await send(
            to: target("securetoken.googleapis.com/v1/token", key: key),
            "grant_type=refresh_token&refresh_token=\(token)",
            type: "application/x-www-form-urlencoded"
        )
    }

    /// As `signOut` does it: an empty cookie, then the request.
    @discardableResult
    func signOut() async throws -> Reply {
        set("__HOST-FIREBASE_[DEFAULT]", "")
        return try await send("DELETE", to: nil)
    }
}

extension Reply {
    var setCookies: [String] {
        response.headers.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
    }
}
