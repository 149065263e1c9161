import Foundation
import Projects
import StrictJSON
import Synchronization
import TestKit
import Testing
import Text

extension OperationCase {
    static let oauth: [OperationCase] =
        [
            "openid-configuration": "openIDConfigurationOfPath",
            "oauth-authorization-server": "authorizationServerOfPath",
        ]
        .sorted { $0.key < $1.key }.map { file, name in
            direct(name) { steps in try await steps.get("/.well-known/\(file)/\(steps.project)") }
        } + [
            direct("authorizationServer") { steps in
                try await steps.get("/\(steps.project)/.well-known/oauth-authorization-server")
            },
            direct("authorizeApplication, nobody signed in") { steps in try await steps.get(steps.scene.path()) },
            application("authorizeApplication, by somebody who agreed before") { steps in
                _ = try await steps.tokens()
                return { try await steps.get(steps.scene.path()) }
            },
            direct("authorizeApplicationByForm") { steps in
                let path = "/\(steps.project)/oauth/authorize"
                return try await steps.post(path, steps.scene.parameters())
            },
            application("continueAuthorization") { steps in
                let back = try await steps.signIn()
                return { try await steps.get(back) }
            },
            application("decideAuthorization") { steps in
                let visit = try await steps.consent()
                return { try await steps.decide("allow", visit) }
            },
            application("grantApplicationTokens, for a code") { steps in
                let code = try await steps.code()
                return { try await steps.scene.redeem(code) }
            },
            application("grantApplicationTokens, refreshed") { steps in
                let token = try await steps.tokens().refreshToken
                return { try await steps.scene.refresh(token) }
            },
            application("applicationUserInfo") { steps in
                let token = try await steps.tokens().accessToken
                return { try await steps.scene.userInfo(token) }
            },
            application("applicationUserInfoByForm") { steps in
                let token = try await steps.tokens().accessToken
                return { try await steps.scene.post("userinfo", [("access_token", token)]) }
            },
            application("introspectToken, an access token") { steps in
                let token = try await steps.tokens().accessToken
                return { try await steps.scene.post("introspect", [("token", token)]) }
            },
            application("introspectToken, a refresh token") { steps in
                let token = try await steps.tokens().refreshToken
                return { try await steps.scene.post("introspect", [("token", token)]) }
            },
            application("revokeApplicationToken") { steps in
                let token = try await steps.tokens().refreshToken
                return { try await steps.scene.post("revoke", [("token", token)]) }
            },
            direct("pushAuthorization") { steps in
                let fields = steps.scene.parameters().filter { $0.0 != "client_id" }.map { ($0, Optional($1)) }
                return try await steps.scene.post("par", fields)
            },
            direct("authorizeDevice") { steps in try await steps.scene.post("device_authorization", []) },
            direct("devicePage") { steps in try await steps.get("/\(steps.project)/oauth/device") },
            application("takeUserCode") { steps in
                let asked = try await steps.scene.post("device_authorization", [])
                let fields = [("user_code", asked["user_code"]?.string ?? "")]
                return { try await steps.post("/\(steps.project)/oauth/device", fields) }
            },
            direct("signOutPage") { steps in try await steps.get("/\(steps.project)/oauth/logout") },
            application("signOutBrowser") { steps in
                _ = try await steps.tokens()
                return { try await steps.post("/\(steps.project)/oauth/logout", [("do", "signOut")]) }
            },
            application("grantsPage") { steps in
                _ = try await steps.tokens()
                return { try await steps.get("/\(steps.project)/oauth/grants") }
            },
            application("withdrawGrant") { steps in
                _ = try await steps.tokens()
                return { try await steps.post("/\(steps.project)/oauth/grants", [("client", steps.scene.clientID)]) }
            },
            direct("registerOAuthClient") { steps in try await steps.register() },
            application("readOAuthRegistration") { steps in
                let made = try await steps.register()
                return { try await steps.manage("GET", made) }
            },
            application("replaceOAuthRegistration") { steps in
                let made = try await steps.register()
                return { try await steps.manage("PUT", made) }
            },
            application("deleteOAuthRegistration") { steps in
                let made = try await steps.register()
                return { try await steps.manage("DELETE", made) }
            },
            direct("listOAuthClients") { steps in
                try await steps.scene.service.admin("oauthClients", version: "v2")
            },
            direct("createOAuthClient") { steps in
                try await steps.scene.service.admin("oauthClients", OAuthScene.publicClient(), version: "v2")
            },
            direct("getOAuthClient") { steps in
                try await steps.scene.service.admin("oauthClients/\(steps.scene.clientID)", version: "v2")
            },
            direct("updateOAuthClient") { steps in
                let path = "oauthClients/\(steps.scene.clientID)"
                return try await steps.scene.service.admin(path, ["client_name": "Two"], method: "PATCH", version: "v2")
            },
            direct("deleteOAuthClient") { steps in
                let path = "oauthClients/\(steps.scene.clientID)"
                return try await steps.scene.service.admin(path, method: "DELETE", version: "v2")
            },
        ]

    /// A request without anything before it.
    private static func direct(
        _ name: String,
        _ request: @escaping @Sendable (OAuthSteps) async throws -> Reply
    ) -> OperationCase {
        application(name) { steps in { try await request(steps) } }
    }

    private static func application(
        _ name: String,
        _ prepare: @escaping @Sendable (OAuthSteps) async throws -> Request
    ) -> OperationCase {
        OperationCase(
            name,
            {
                $0.oauth.isEnabled = true
                $0.oauth.allowsRegistration = true
            }
        ) { world in
            let device = "urn:ietf:params:oauth:grant-type:device_code"
            let types: JSON = ["authorization_code", "refresh_token", .string(device)]
            let client = OAuthScene.confidentialClient(["grant_types": types])
            let steps = OAuthSteps(scene: try await OAuthScene.register(client, at: world.service))
            _ = try await world.service.signUp(OAuthScene.email)
            // Its node has met the client.
            _ = try await steps.scene.post("introspect", [("token", "none")])
            return try await prepare(steps)
        }
    }
}

/// A sign-in to an application, request by request, wherever the service is said to be.
private final class OAuthSteps: Sendable {
    let scene: OAuthScene
    private let cookies = Mutex<[String: String]>([:])

    init(scene: OAuthScene) { self.scene = scene }

    var project: String { scene.service.project.id.rawValue }

    /// - Parameter url: a path, or a URL of the service.
    func get(_ url: String) async throws -> Reply { try await send("GET", url, nil) }

    func post(_ url: String, _ fields: [(String, String)]) async throws -> Reply {
        try await send("POST", url, Array(FormFields(pairs: fields).text.utf8))
    }

    private func send(_ method: String, _ url: String, _ body: [UInt8]?) async throws -> Reply {
        let parts = URLParts(url)
        let path = parts.map { $0.path + ($0.query.map { "?\($0)" } ?? "") } ?? url
        let held = cookies.withLock { $0 }.map { "\($0)=\($1)" }.sorted().joined(separator: "; ")
        var headers = [("Sec-Fetch-Site", "same-origin"), ("Cookie", held)]
        if body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let reply = try await scene.service.send(method, path, headers: headers, body: body)
        for (name, value) in reply.response.headers where name.lowercased() == "set-cookie" {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map { String($0) }
            cookies.withLock { $0[pair[0]] = pair.count == 2 ? pair[1] : nil }
        }
        return reply
    }

    /// Where the sign-in page leads back to.
    func signIn() async throws -> String {
        let start = try #require(try await get(scene.path()).response.header("location"))
        let form = try #require(HTMLForm.all(in: try await get(start).response.text).first { $0.value("page") != nil })
        let fields = [("page", form.value("page") ?? ""), ("do", "signIn"), ("email", OAuthScene.email)]
        let page = try await post("/__/auth/sign-in", fields + [("password", "correct horse")])
        return try #require(Self.leadsTo(page), "\(page)")
    }

    /// The state of the consent page.
    func consent() async throws -> String {
        let page = try await get(signIn())
        return try #require(HTMLForm.all(in: page.response.text).first?.value("visit"), "\(page)")
    }

    func decide(_ answer: String, _ visit: String) async throws -> Reply {
        try await post("/\(project)/oauth/continue", [("visit", visit), ("do", answer)])
    }

    func code() async throws -> String {
        let page = try await decide("allow", consent())
        let url = try #require(Self.leadsTo(page), "\(page)")
        return FormFields(URLParts(url)?.query ?? "")["code"] ?? ""
    }

    func tokens() async throws -> Reply { try await scene.redeem(code()) }

    private static func leadsTo(_ page: Reply) -> String? {
        page.response.text.firstMatch(of: #/content="0; url=([^"]*)"/#).map {
            String($0.1).replacing("&amp;", with: "&")
        }
    }

    // MARK: Clients that register themselves

    private static let registration: JSON = ["redirect_uris": ["http://127.0.0.1/cb"]]

    func register() async throws -> Reply {
        try await scene.service.post("/\(project)/oauth/register", text: Self.registration.text)
    }

    func manage(_ method: String, _ made: Reply) async throws -> Reply {
        let headers = [
            ("Authorization", "Bearer \(made["registration_access_token"]?.string ?? "")"),
            ("Content-Type", "application/json"),
        ]
        return try await scene.service.send(
            method,
            "/\(project)/oauth/register/\(made["client_id"]?.string ?? "")",
            headers: headers,
            body: method == "PUT" ? Array(#"{"redirect_uris":["http://127.0.0.1/two"]}"#.utf8) : nil
        )
    }
}
