import Foundation
import Projects
import TestKit
import Testing
import Text

/// Every parameter of the standards: it is read, it is refused, or docs/guide/oauth.md says that it is ignored; and a
/// request that is refused leaves what it brought as good as before.
@Suite("Parameters", .database)
struct OAuthParameterTests {
    /// The parameters of each endpoint, from the registry "OAuth Parameters" and the standards that the guide names.
    private static let standard: [String: [String]] = [
        // RFC 6749, OpenID Connect Core §3.1.2.1, §5.2, §5.5, §6, §7.2.1; RFC 7636, RFC 8707, RFC 9449
        "authorize": [
            "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "prompt",
            "max_age",
            "login_hint", "id_token_hint", "ui_locales", "code_challenge", "code_challenge_method", "resource",
            "dpop_jkt", "request", "request_uri", "registration", "claims", "claims_locales", "acr_values", "display",
        ],
        // RFC 6749 §4.1.3, §6; RFC 7636 §4.5; RFC 8707 §2.2; RFC 7521 §4.2; RFC 8628 §3.4; RFC 8693 §2.1
        "token": [
            "grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret", "client_assertion",
            "client_assertion_type", "refresh_token", "scope", "resource", "device_code", "subject_token",
            "subject_token_type", "requested_token_type", "actor_token", "actor_token_type", "audience",
        ],
        "introspect": ["token", "token_type_hint"], "revoke": ["token", "token_type_hint"],
        "logout": [
            "id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales",
        ],
        // RFC 7591 §2, RP-Initiated Logout §3.1, Back-Channel Logout §2.2
        "register": [
            "redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types", "client_name", "client_uri",
            "logo_uri", "scope", "contacts", "tos_uri", "policy_uri", "jwks_uri", "jwks", "software_id",
            "software_version", "software_statement", "post_logout_redirect_uris", "backchannel_logout_uri",
        ],
    ]

    /// A value that an endpoint refuses, and how.
    private typealias Refused = (name: String, value: String, error: String)

    /// What is read: nobody who ignored it would refuse it.
    private static let read: [String: [Refused]] = [
        "authorize": [
            ("response_type", "token", "unsupported_response_type"), ("response_mode", "fragment", "invalid_request"),
            ("nonce", String(repeating: "n", count: 513), "invalid_request"),
            ("state", String(repeating: "s", count: 4_097), "invalid_request"),
            ("prompt", "other", "invalid_request"), ("prompt", "consent", "heading"),
            ("max_age", "x", "invalid_request"),
            ("max_age", "0", "heading"), ("login_hint", String(repeating: "l", count: 321), "invalid_request"),
            ("id_token_hint", "x", "invalid_request"), ("code_challenge", "x", "invalid_request"),
            ("code_challenge_method", "plain", "invalid_request"), ("resource", "/x", "invalid_target"),
            ("dpop_jkt", "x", "invalid_request"), ("client_id", "x", "page"), ("redirect_uri", "https://x/", "page"),
        ],
        "code": [
            ("grant_type", "password", "unsupported_grant_type"), ("code", "x", "invalid_grant"),
            ("redirect_uri", "https://x/", "invalid_grant"), ("client_id", "x", "invalid_client"),
            ("client_secret", "x", "invalid_client"), ("client_assertion", "x", "invalid_request"),
            ("code_verifier", "x", "invalid_request"),
            ("code_verifier", String(repeating: "x", count: 43), "invalid_grant"),
            ("resource", "https://x.example/", "invalid_target"),
        ],
        "refresh": [
            ("refresh_token", "x", "invalid_grant"), ("scope", "openid phone", "invalid_scope"),
            ("resource", "https://x.example/", "invalid_target"),
        ],
        "exchange": [
            ("subject_token", "x", "invalid_request"), ("subject_token_type", "x", "invalid_request"),
            ("requested_token_type", "x", "invalid_request"), ("resource", "x", "invalid_target"),
        ],
        "device": [("device_code", "x", "invalid_grant"), ("resource", "https://x.example/", "invalid_target")],
        "register": [
            ("redirect_uris", #"["/x"]"#, "invalid_redirect_uri"),
            ("grant_types", #"["x"]"#, "invalid_client_metadata"),
            ("response_types", #"["token"]"#, "invalid_client_metadata"),
            ("client_name", "5", "invalid_client_metadata"),
            ("token_endpoint_auth_method", #""x""#, "invalid_client_metadata"),
            ("client_uri", #""x""#, "invalid_client_metadata"), ("scope", "5", "invalid_client_metadata"),
            ("tos_uri", #""x""#, "invalid_client_metadata"), ("policy_uri", #""x""#, "invalid_client_metadata"),
            ("jwks_uri", #""x""#, "invalid_client_metadata"), ("jwks", "{}", "invalid_client_metadata"),
            ("post_logout_redirect_uris", #"["/x"]"#, "invalid_redirect_uri"),
            ("backchannel_logout_uri", #""x""#, "invalid_client_metadata"),
        ],
    ]

    /// What is read, and shown to be so elsewhere or below.
    private static let shownElsewhere: [String: Set<String>] = [
        "authorize": ["scope", "ui_locales"], "token": ["client_assertion_type"],
        "introspect": ["token"], "revoke": ["token"],
        "logout": ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"],
    ]

    /// The guide's table of what is refused or ignored.
    private static func guide() throws -> [(endpoint: String, name: String, answer: String)] {
        try Repository.rows(of: "docs/guide/oauth.md", section: "### Parameters without effect").map { row in
            let words = row.map { $0.split(whereSeparator: { $0 == "`" || $0 == "," }).first.map { String($0) } ?? "" }
            return (words[0], words[1], words[2])
        }
    }

    @Test("of the standards are read, or stand in the guide")
    func complete() throws {
        let guide = try Self.guide()
        for (endpoint, names) in Self.standard {
            let parts = endpoint == "token" ? ["code", "refresh", "exchange", "device"] : [endpoint]
            let read = Set(parts.flatMap { Self.read[$0] ?? [] }.map(\.name))
                .union(Self.shownElsewhere[endpoint] ?? [])
            let told = Set(guide.filter { $0.endpoint == endpoint }.map(\.name))
            #expect(read.union(told) == Set(names), "\(endpoint)")
            #expect(read.isDisjoint(with: told), "\(endpoint)")
        }
        #expect(guide.count > 15)
    }

    @Test("of an authorization request, from the browser or pushed")
    func authorize() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.signIn(on: scene.open())
            scene.service.clock.advance(by: 10)
            func pushed(_ name: String, _ value: String) async throws -> Reply {
                try await scene.post(
                    "par",
                    scene.parameters([(name, value)]).filter { $0.0 != "client_id" }.map { ($0, $1) }
                )
            }
            for (name, value, error) in Self.read["authorize"] ?? [] {
                let answer = try await scene.open([(name, value)])
                switch error {
                case "heading": #expect(answer.query["code"] == nil && answer.status == 200, "\(name): \(answer.url)")
                case "page": #expect(answer.status == 400, "\(name): \(answer.url)")
                default:
                    #expect(answer.query["error"] == error, "\(name): \(answer.url)")
                    #expect(try await pushed(name, value).oauthError == error, "\(name)")
                }
            }
            for row in try Self.guide() where row.endpoint == "authorize" {
                let answer = try await scene.open([(row.name, "x")])
                if row.answer == "ignored" {
                    #expect(answer.query["code"] != nil, "\(row.name): \(answer.url)")
                    #expect(try await pushed(row.name, "x").status == 201, "\(row.name)")
                } else {
                    #expect(answer.query["error"] == row.answer, "\(row.name): \(answer.url)")
                    #expect(try await pushed(row.name, "x").oauthError == row.answer, "\(row.name)")
                }
            }
            let japanese = try await scene.open([("ui_locales", "ja"), ("prompt", "login")])
            #expect(japanese.text.contains(#"lang="ja""#), "\(japanese.text)")
        }
    }

    // MARK: Refused, and nothing used up

    private func refuses(
        _ rows: String,
        _ usual: [(String, String?)],
        _ scene: OAuthScene,
        error: (OAuthScene, [(String, String?)]) async throws -> Reply
    ) async throws {
        for (name, value, code) in Self.read[rows] ?? [] {
            let fields = usual.filter { $0.0 != name } + [(name, Optional(value))]
            let reply = try await error(scene, fields)
            #expect(reply.oauthError == code, "\(name): \(reply)")
        }
    }

    /// The client's own parameters stand before those of the request, which may replace them.
    private func post(_ scene: OAuthScene, _ fields: [(String, String?)]) async throws -> Reply {
        var scene = scene
        for (name, value) in fields {
            if name == "client_id" { scene.clientID = value ?? "" }
            if name == "client_secret" { scene.secret = value }
        }
        return try await scene.post("token", fields.filter { !["client_id", "client_secret"].contains($0.0) })
    }

    private func sessions(_ scene: OAuthScene) async throws -> Int {
        let user = try await scene.service.signInWithPassword(OAuthScene.email)
        let listed = try await scene.service.call("accounts:listSessions", ["idToken": JSON(user.idToken)])
        return listed["sessions"]?.array?.filter { $0["clientId"]?.string == scene.clientID }.count ?? 0
    }

    @Test("of a code and of a refresh token leave them as good as before")
    func codes() async throws {
        try await OAuthScene.run(OAuthScene.confidentialClient(["trusted": true])) { scene in
            let code = try await {
                _ = try await scene.service.signUp(OAuthScene.email)
                let asked = [("resource", Optional("https://mcp.example.com/"))]
                return try await scene.signIn(on: scene.open(asked)).query["code"]
            }()
            let usual: [(String, String?)] = [
                ("grant_type", "authorization_code"), ("code", code), ("code_verifier", scene.verifier),
                ("redirect_uri", OAuthScene.callback),
            ]
            try await refuses("code", usual, scene, error: post)
            #expect(try await sessions(scene) == 0, "nobody has tokens of it")
            let reply = try await scene.post("token", usual + [("resource", "https://mcp.example.com")])
            reply.expectOK()
            #expect(try await sessions(scene) == 1)
            let refresh: [(String, String?)] = [("grant_type", "refresh_token"), ("refresh_token", reply.refreshToken)]
            try await refuses("refresh", refresh, scene, error: post)
            try await scene.post("token", refresh).expectOK()
        }
    }

    @Test("of a device's code leave it as good as before")
    func devices() async throws {
        let device = "urn:ietf:params:oauth:grant-type:device_code"
        let client: JSON = ["token_endpoint_auth_method": "none", "grant_types": [.string(device)]]
        try await OAuthScene.run(client) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let asked = try await scene.post("device_authorization", [("resource", "https://mcp.example.com/")])
            let page = try await scene.browser.open("\(scene.issuer)/oauth/device")
            let code = asked["user_code"]?.string ?? ""
            let form = try #require(page.forms.first)
            let consent = try await scene.signIn(on: scene.browser.submit(form, ["user_code": code], on: page))
            _ = try await scene.press("allow", on: consent)
            let usual = [("grant_type", Optional(device)), ("device_code", asked["device_code"]?.string)]
            try await refuses("device", usual, scene, error: post)
            let reply = try await scene.post("token", usual + [("resource", "https://mcp.example.com")])
            #expect(Reply.claims(of: reply.accessToken ?? "")["aud"]?.string == "https://mcp.example.com/", "\(reply)")
        }
    }

    @Test("of an exchange")
    func exchanges() async throws {
        let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
        let client = OAuthScene.confidentialClient(["grant_types": [.string(exchange)]])
        try await OAuthScene.run(client) { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let usual: [(String, String?)] = [
                ("grant_type", exchange), ("subject_token", user.idToken),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
                ("resource", "https://mcp.example.com/"),
            ]
            try await refuses("exchange", usual, scene, error: post)
            for row in try Self.guide() where row.endpoint == "token" {
                let reply = try await scene.post("token", usual + [(row.name, "x")])
                #expect(reply.oauthError == row.answer, "\(row.name): \(reply)")
            }
            try await scene.post("token", usual).expectOK()
        }
    }

    @Test("of questions about tokens and of the sign-out")
    func others() async throws {
        try await OAuthScene.run(OAuthScene.confidentialClient()) { scene in
            let reply = try await scene.tokens()
            for row in try Self.guide() where ["introspect", "revoke", "logout"].contains(row.endpoint) {
                #expect(row.answer == "ignored")
                switch row.endpoint {
                case "logout":
                    let page = try await scene.browser.open("\(scene.issuer)/oauth/logout?\(row.name)=x")
                    #expect(page.heading == "Sign out?")
                case "introspect":
                    let fields = [("token", reply.accessToken), (row.name, "refresh_token")]
                    #expect(try await scene.post("introspect", fields)["active"] == true)
                default:
                    let fields = [("token", reply.refreshToken), (row.name, "access_token")]
                    try await scene.post("revoke", fields).expectOK()
                    #expect(try await scene.post("introspect", [("token", reply.accessToken)])["active"] == false)
                }
            }
        }
    }

    @Test("of a registration, whose answer names those that count")
    func registrations() async throws {
        try await OAuthScene.run {
            $0.oauth.allowsRegistration = true
        } _: { scene in
            let path = "/\(scene.service.project.id)/oauth/register"
            func register(_ name: String, _ value: String) async throws -> Reply {
                var members = try JSON(parsing: Array(OAuthScene.publicClient().text.utf8)).object ?? [:]
                members[name] = try JSON(parsing: Array(value.utf8))
                return try await scene.service.post(path, text: JSON.object(members).text)
            }
            for (name, value, error) in Self.read["register"] ?? [] {
                let reply = try await register(name, value)
                #expect(reply.oauthError == error, "\(name): \(reply)")
            }
            for row in try Self.guide() where row.endpoint == "register" {
                let reply = try await register(row.name, #""x""#)
                #expect(row.answer == "ignored" && reply.status == 201 && reply.json[row.name] == nil, "\(reply)")
            }
        }
    }
}
