import Foundation
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// An application that signs in with a project's accounts, and the user's browser.
struct OAuthScene: Sendable {
    let service: TestService
    var browser = ScriptedBrowser()
    var clientID: String
    var secret: String?
    /// What the application keeps until the browser is back.
    let verifier = RandomSource.system.handle()

    static let callback = "https://tea.example.com/callback"
    static let email = "ada@example.com"

    static func publicClient(_ more: [String: JSON] = [:]) -> JSON {
        confidentialClient(more.merging(["token_endpoint_auth_method": "none"]) { first, _ in first })
    }

    static func confidentialClient(_ more: [String: JSON] = [:]) -> JSON {
        let usual: [String: JSON] = [
            "client_name": "Tea House", "redirect_uris": [.string(callback)],
            "grant_types": ["authorization_code", "refresh_token"],
        ]
        return .object(usual.merging(more) { $1 })
    }

    /// - Parameter client: as an admin registers it.
    static func run(
        _ client: JSON = publicClient(),
        sendsMessages: Bool = false,
        letsStrangersUseLoopback: Bool = true,
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (OAuthScene) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.sendsMessages = sendsMessages
        options.letsStrangersUseLoopback = letsStrangersUseLoopback
        options.settings.oauth.isEnabled = true
        options.settings.oauth.scopes = ["tea.brew": "Brew tea"]
        options.settings.mail.appName = "Tea Garden"
        change(&options.settings)
        try await TestService.run(options) { service in
            try await body(try await register(client, at: service))
        }
    }

    static func register(_ client: JSON, at service: TestService) async throws -> OAuthScene {
        let reply = try await service.admin("oauthClients", client, version: "v2")
        let id = try #require(reply["client_id"]?.string, "\(reply)")
        return OAuthScene(service: service, clientID: id, secret: reply["client_secret"]?.string)
    }

    /// Where the project is; the service's own URL without.
    var publicURL: String?

    private var baseURL: String { publicURL ?? service.baseURL }

    var issuer: String { "\(baseURL)/\(service.project.id)" }

    // MARK: The browser

    func parameters(_ change: [(String, String?)] = []) -> [(String, String)] {
        var items: [(String, String?)] = [
            ("client_id", clientID), ("redirect_uri", Self.callback), ("response_type", "code"),
            ("scope", "openid email offline_access"), ("state", "s-1"), ("nonce", "n-1"),
            ("code_challenge", Base64URL.encode(SecureHash.sha256(verifier))), ("code_challenge_method", "S256"),
        ]
        for (name, value) in change {
            items.removeAll { $0.0 == name }
            items.append((name, value))
        }
        return items.compactMap { item in item.1.map { (item.0, $0) } }
    }

    func path(_ change: [(String, String?)] = []) -> String {
        "/\(service.project.id)/oauth/authorize?" + FormFields(pairs: parameters(change)).text
    }

    /// Sends the browser there, and follows it up to a page or the application.
    func open(_ change: [(String, String?)] = []) async throws -> Visit {
        try await browser.open(baseURL + path(change), until: Self.stops)
    }

    private static let stops = ["https://", "com.example", "http://127.0.0.1:4711", "http://localhost:4711"]

    /// Presses a button of a page, and follows where it leads.
    func press(
        _ value: String,
        _ typed: [String: String] = [:],
        on page: Visit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Visit {
        let found = page.forms.first { $0.buttons.contains { $0.value == value } }
        let form = try #require(found, "no button \(value): \(page.text)", sourceLocation: sourceLocation)
        var values = typed
        values["do"] = value
        let next = try await browser.submit(form, values, button: "none of them", on: page, until: Self.stops)
        guard let url = next.leadsTo else { return next }
        return try await browser.open(url, until: Self.stops)
    }

    func signIn(on page: Visit, email: String = email) async throws -> Visit {
        try await press("signIn", ["email": email, "password": "correct horse"], on: page)
    }

    /// Signs up, signs in and allows it; the answer to the application.
    func authorize(_ change: [(String, String?)] = []) async throws -> Visit {
        _ = try await service.signUp(Self.email)
        return try await press("allow", on: signIn(on: open(change)))
    }

    // MARK: The application

    func post(
        _ endpoint: String,
        _ fields: [(String, String?)],
        basic: Bool = false,
        headers: [(String, String)] = []
    ) async throws -> Reply {
        var fields = fields
        var headers = headers + [("Content-Type", "application/x-www-form-urlencoded")]
        if basic, let secret {
            headers.append(("Authorization", "Basic \(Data("\(clientID):\(secret)".utf8).base64EncodedString())"))
        } else {
            fields += [("client_id", clientID), ("client_secret", secret)]
        }
        let form = FormFields(pairs: fields.compactMap { item in item.1.map { (item.0, $0) } })
        let path = "/\(service.project.id)/oauth/\(endpoint)"
        return try await service.send("POST", path, headers: headers, body: Array(form.text.utf8))
    }

    func redeem(
        _ code: String?,
        verifier: String? = nil,
        _ more: [(String, String?)] = [],
        headers: [(String, String)] = []
    ) async throws -> Reply {
        try await post(
            "token",
            [
                ("grant_type", "authorization_code"), ("code", code), ("code_verifier", verifier ?? self.verifier),
                ("redirect_uri", Self.callback),
            ] + more,
            headers: headers
        )
    }

    func refresh(
        _ token: String?,
        _ more: [(String, String?)] = [],
        headers: [(String, String)] = []
    ) async throws -> Reply {
        try await post("token", [("grant_type", "refresh_token"), ("refresh_token", token)] + more, headers: headers)
    }

    func userInfo(_ accessToken: String?) async throws -> Reply {
        let headers = accessToken.map { [("Authorization", "Bearer \($0)")] } ?? []
        return try await service.send("GET", "/\(service.project.id)/oauth/userinfo", headers: headers)
    }

    /// The tokens of a user who signed up, signed in and allowed it.
    func tokens(_ change: [(String, String?)] = []) async throws -> Reply {
        try await redeem(authorize(change).query["code"])
    }
}

extension Reply {
    var oauthError: String? { json["error"]?.string }
    var accessToken: String? { json["access_token"]?.string }
}
