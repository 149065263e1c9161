import Development
import Secrets
import TestKit
import Text

/// A client of a few lines that does what the specifications say, to see whether the test provider does.
struct ReferenceClient {
    let tenant: TestTenant
    var id = "client"
    var secret: String? = "client-secret"
    var authentication = TestClient.Authentication.basic
    var redirectURI = "http://localhost/callback"
    var scope = "openid email profile"
    var responseType = "code"
    var state = "the-state"
    var nonce: String? = "the-nonce"
    var verifier: String? = "verifier-verifier-verifier-verifier-verifier"
    var extra: [(String, String)] = []

    /// Registers this client at its tenant.
    func registered() -> ReferenceClient {
        tenant.addClient(id, redirects: .exact([redirectURI]), authentication: authentication)
        return self
    }

    var authorizationURL: String {
        var pairs = [
            ("response_type", responseType), ("client_id", id), ("redirect_uri", redirectURI), ("scope", scope),
            ("state", state),
        ]
        if let nonce { pairs.append(("nonce", nonce)) }
        if let verifier {
            pairs.append(("code_challenge", Base64URL.encode(SecureHash.sha256(verifier))))
            pairs.append(("code_challenge_method", "S256"))
        }
        return (tenant.url(.authorization) ?? "") + "?" + FormFields(pairs: pairs + extra).text
    }

    /// Sends a browser through the authorization endpoint and takes the code from the callback.
    func authorize(_ browser: ScriptedBrowser = ScriptedBrowser()) async throws -> Visit {
        try await browser.open(authorizationURL, until: [redirectURI])
    }

    /// The fields of the token request; headers carry the client's secret or not.
    func exchangeFields(_ code: String) -> [(String, String)] {
        var pairs = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI)]
        if let verifier { pairs.append(("code_verifier", verifier)) }
        return pairs + posted
    }

    func exchange(_ code: String, accept: String = "application/json") async throws -> PlainResponse {
        try await PlainHTTP.post(
            tenant.url(.token) ?? "",
            form: exchangeFields(code),
            headers: headers + [("Accept", accept)]
        )
    }

    func refresh(_ token: String) async throws -> PlainResponse {
        try await PlainHTTP.post(
            tenant.url(.token) ?? "",
            form: [("grant_type", "refresh_token"), ("refresh_token", token)] + posted,
            headers: headers
        )
    }

    var posted: [(String, String)] {
        switch authentication {
        case .basic: []
        case .post, .basicOrPost, .appleSecret: [("client_id", id), ("client_secret", secret ?? "")]
        case .none: [("client_id", id)]
        }
    }

    var headers: [(String, String)] {
        guard authentication == .basic else { return [] }
        return [("Authorization", "Basic " + Self.base64(id + ":" + (secret ?? "")))]
    }

    func get(_ endpoint: ProviderEndpoint, token: String, scheme: String = "Bearer") async throws -> PlainResponse {
        try await PlainHTTP.send(
            "GET",
            tenant.url(endpoint) ?? "",
            headers: [("Authorization", "\(scheme) \(token)"), ("User-Agent", "reference")]
        )
    }

    private static func base64(_ text: String) -> String {
        let url = Base64URL.encode(text.utf8).replacing("-", with: "+").replacing("_", with: "/")
        return url + String(repeating: "=", count: (4 - url.utf8.count % 4) % 4)
    }
}
