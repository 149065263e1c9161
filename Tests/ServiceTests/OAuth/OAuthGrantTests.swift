import Foundation
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// The other ways to a grant: pushed requests, devices, exchanged tokens, and clients nobody registered by hand.
@Suite("Other ways to an application's grant", .database)
struct OAuthGrantTests {
    private static let device = "urn:ietf:params:oauth:grant-type:device_code"
    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"

    @Test("a pushed request is used once, by its client alone")
    func pushed() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let pushed = try await scene.post("par", scene.parameters().filter { $0.0 != "client_id" }.map { ($0, $1) })
            let uri = try #require(pushed["request_uri"]?.string, "\(pushed)")
            #expect(pushed.status == 201 && pushed["expires_in"] == 300)
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            let query = { (id: String) in
                "/\(scene.service.project.id)/oauth/authorize?"
                    + FormFields(pairs: [("client_id", id), ("request_uri", uri)]).text
            }
            #expect(try await scene.service.send("GET", query(other.clientID)).status == 400)
            let page = try await scene.browser.open(scene.service.baseURL + query(scene.clientID))
            let answer = try await scene.press("allow", on: scene.signIn(on: page))
            #expect(answer.query["state"] == "s-1")
            try await scene.redeem(answer.query["code"]).expectOK()
            #expect(try await scene.service.send("GET", query(scene.clientID)).status == 400, "used")
            let refused = try await scene.post(
                "par",
                [("response_type", "token"), ("redirect_uri", OAuthScene.callback)]
            )
            #expect(refused.oauthError == "unsupported_response_type", "\(refused)")
        }
    }

    private static let television: JSON = [
        "client_name": "Television", "token_endpoint_auth_method": "none",
        "grant_types": [.string(device), "refresh_token"],
    ]

    private func poll(_ scene: OAuthScene, _ code: String?) async throws -> Reply {
        try await scene.post("token", [("grant_type", Self.device), ("device_code", code)])
    }

    private func open(_ scene: OAuthScene, _ userCode: String) async throws -> Visit {
        let page = try await scene.browser.open("\(scene.issuer)/oauth/device?user_code=\(userCode)")
        #expect(page.heading == "Connect a device")
        let form = try #require(page.forms.first)
        return try await scene.browser.submit(form, ["user_code": userCode.lowercased()], on: page)
    }

    @Test("T-F4: a device gets its grant once, asks no more often than it may, and a second use of its code ends it")
    func devices() async throws {
        try await OAuthScene.run(Self.television) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let asked = try await scene.post("device_authorization", [("scope", "openid email offline_access")])
            let (code, userCode) = (asked["device_code"]?.string, asked["user_code"]?.string ?? "")
            #expect(asked["verification_uri"]?.string == "\(scene.issuer)/oauth/device", "\(asked)")
            #expect(try await poll(scene, code).oauthError == "authorization_pending")
            #expect(try await poll(scene, code).oauthError == "slow_down")
            let consent = try await scene.signIn(on: open(scene, userCode))
            #expect(consent.text.contains(userCode) && consent.text.contains("Television"))
            let done = try await scene.press("allow", on: consent)
            #expect(done.heading == "Device connected")
            let nothing = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM sessions WHERE project = \(scene.service.project.id.rawValue) AND client IS NOT NULL"
            ) { try $0.next(Int64.self) }
            #expect(nothing == [0], "nothing begins before the device fetches it")
            let other = try await OAuthScene.register(Self.television, at: scene.service)
            #expect(try await poll(other, code).oauthError == "invalid_grant")
            let reply = try await poll(scene, code)
            #expect(reply.status == 200 && reply.refreshToken != nil && reply["id_token"] != nil, "\(reply)")
            // The code is used up, for the user and for the device.
            #expect(try await open(scene, userCode).status == 400)
            let later = try await scene.refresh(reply.refreshToken)
            later.expectOK()
            #expect(try await poll(scene, code).oauthError == "invalid_grant")
            // A thief may have been the first.
            #expect(try await scene.refresh(later.refreshToken).oauthError == "invalid_grant")
        }
    }

    @Test("T-F39: what a client gave up while the user was asked is not granted, though it has it back at the end")
    func shownToTheUser() async throws {
        let all = "openid email offline_access"
        @Sendable func change(_ scene: OAuthScene, _ scope: String) async throws {
            let id = scene.clientID
            let reply = try await scene.service.admin(
                "oauthClients/\(id)",
                ["scope": .string(scope)],
                method: "PATCH",
                version: "v2"
            )
            #expect(reply["scope"]?.string == scope, "\(reply)")
        }
        try await OAuthScene.run(Self.television) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let asked = try await scene.post("device_authorization", [("scope", all)])
            try await change(scene, "openid")
            let consent = try await scene.signIn(on: open(scene, asked["user_code"]?.string ?? ""))
            try await change(scene, all)
            #expect(try await scene.press("allow", on: consent).heading == "Device connected")
            let reply = try await poll(scene, asked["device_code"]?.string)
            #expect(reply["scope"] == "openid" && reply.refreshToken == nil, "\(reply)")
        }
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let page = try await scene.open([("scope", all)])
            try await change(scene, "openid")
            let consent = try await scene.signIn(on: page)
            try await change(scene, all)
            let reply = try await scene.redeem(scene.press("allow", on: consent).query["code"])
            #expect(reply["scope"] == "openid" && reply.refreshToken == nil, "\(reply)")
        }
    }

    @Test("a device is told of a refusal, of the end of its code, and nothing by a wrong one")
    func refusedDevices() async throws {
        try await OAuthScene.run(Self.television) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let asked = try await scene.post("device_authorization", [])
            let userCode = asked["user_code"]?.string ?? ""
            let refused = try await scene.press("deny", on: scene.signIn(on: open(scene, userCode)))
            #expect(refused.heading == "Device not connected")
            #expect(try await poll(scene, asked["device_code"]?.string).oauthError == "access_denied")
            let second = try await scene.post("device_authorization", [])
            scene.service.clock.advance(by: 601)
            #expect(try await poll(scene, second["device_code"]?.string).oauthError == "expired_token")
            for wrong in [second["user_code"]?.string ?? "", "BCDF-GHJK", "x", ""] {
                #expect(try await open(scene, wrong).status == 400, "\(wrong)")
            }
            #expect(try await poll(scene, "none").oauthError == "invalid_grant")
        }
    }

    @Test(
        "T-F9: an ID token is exchanged by the project's own confidential client alone, for a resource, and ends with its session"
    )
    func exchanged() async throws {
        let agent = OAuthScene.confidentialClient(["grant_types": [.string(Self.exchange)]])
        try await OAuthScene.run(agent) { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let fields: [(String, String?)] = [
                ("grant_type", Self.exchange), ("subject_token", user.idToken),
                ("scope", "tea.brew openid offline_access"),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ]
            #expect(try await scene.post("token", fields).oauthError == "invalid_target")
            let resource = [("resource", Optional("https://api.example.com/tea"))]
            let reply = try await scene.post("token", fields + resource)
            let claims = Reply.claims(of: reply.accessToken ?? "")
            #expect(
                claims["aud"]?.string == "https://api.example.com/tea" && claims["scope"]?.string == "tea.brew",
                "\(reply)"
            )
            #expect(claims["act"]?["sub"]?.string == scene.clientID && claims["sub"]?.string == user.localID)
            #expect(reply.refreshToken == nil && reply["id_token"] == nil)
            #expect(try await scene.post("introspect", [("token", reply.accessToken)])["active"] == true)
            let stranger = try await OAuthScene.register(OAuthScene.confidentialClient(), at: scene.service)
            #expect(try await stranger.post("token", fields + resource).oauthError == "unauthorized_client")
            let body: JSON = ["redirect_uris": [.string(OAuthScene.callback)], "grant_types": [.string(Self.exchange)]]
            _ = try await scene.service.admin(
                "config?updateMask=identity.oauth.registration",
                ["identity": ["oauth": ["registration": true]]],
                method: "PATCH",
                version: "v2"
            )
            let self_ = try await scene.service.post("/\(scene.service.project.id)/oauth/register", text: body.text)
            let own = OAuthScene(
                service: scene.service,
                clientID: self_["client_id"]?.string ?? "",
                secret: self_["client_secret"]?.string
            )
            #expect(try await own.post("token", fields + resource).oauthError == "unauthorized_client", "\(self_)")
            let all: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
            _ = try await scene.service.call("accounts:signOut", all)
            #expect(try await scene.post("introspect", [("token", reply.accessToken)])["active"] == false)
            #expect(try await scene.post("token", fields + resource).oauthError == "invalid_request")
        }
    }

    @Test("simultaneous changes of a client do not undo each other, over two nodes")
    func changes() async throws {
        var options = TestService.Options()
        options.settings.oauth.isEnabled = true
        try await TestService.runPair(options) { first, second in
            let made = try await first.admin("oauthClients", OAuthScene.publicClient(), version: "v2")
            let path = "oauthClients/\(made["client_id"]?.string ?? "")"
            try await second.stores.configuration.refresh()
            for round in 0..<RaceRounds.count {
                let (name, terms): (JSON, JSON) = (.string("Tea \(round)"), .string("https://tea.example.com/\(round)"))
                async let a = first.admin(path, ["client_name": name], method: "PATCH", version: "v2")
                async let b = second.admin(path, ["tos_uri": terms], method: "PATCH", version: "v2")
                let replies = try await [a, b]
                #expect(replies.allSatisfy { $0.status == 200 }, "\(replies)")
                try await first.stores.configuration.refresh()
                let client = try await first.admin(path, version: "v2")
                #expect(client["client_name"] == name && client["tos_uri"] == terms, "\(client)")
            }
        }
    }

    @Test("a client registers itself, manages that with its token, and is never trusted")
    func registration() async throws {
        try await OAuthScene.run(OAuthScene.publicClient()) {
            $0.oauth.allowsRegistration = true
        } _: { scene in
            let path = "/\(scene.service.project.id)/oauth/register"
            let body: JSON = [
                "redirect_uris": ["http://127.0.0.1/cb"], "trusted": true, "client_name": "Agent", "unknown": [1, 2],
                "grant_types": ["authorization_code", "refresh_token", "password"],
            ]
            let made = try await scene.service.post(path, text: body.text)
            let id = try #require(made["client_id"]?.string, "\(made)")
            #expect(made.status == 201 && made["client_secret"] != nil && made["trusted"] == nil)
            #expect(made["grant_types"] == ["authorization_code", "refresh_token"])
            #expect(try await scene.service.admin("oauthClients/\(id)", version: "v2")["trusted"] == false)
            let token = made["registration_access_token"]?.string ?? ""
            func manage(_ method: String, _ token: String, _ body: JSON? = nil) async throws -> Reply {
                let headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
                return try await scene.service.send(
                    method,
                    "\(path)/\(id)",
                    headers: headers,
                    body: body.map { Array($0.text.utf8) }
                )
            }
            let read = try await manage("GET", token)
            #expect(read["client_name"]?.string == "Agent" && read["registration_access_token"]?.string == token)
            for other: [String: JSON] in [
                ["client_id": "other"], ["client_secret": "guess"], ["client_secret": 5], ["client_id": 5],
            ] {
                let body = ["redirect_uris": ["http://127.0.0.1/cb"], "client_name": "Other"].merging(other) { $1 }
                let refused = try await manage("PUT", token, .object(body))
                #expect(refused.oauthError == "invalid_client_metadata", "\(other): \(refused)")
            }
            #expect(try await manage("GET", token)["client_name"]?.string == "Agent", "nothing was replaced")
            #expect(try await manage("GET", "none").oauthError == "invalid_token")
            #expect(
                try await manage("PUT", token, ["redirect_uris": ["javascript:x"]]).oauthError == "invalid_redirect_uri"
            )
            let replaced = try await manage(
                "PUT",
                token,
                [
                    "redirect_uris": ["http://127.0.0.1/two"], "client_name": "Two", "client_id": .string(id),
                    "client_secret": made["client_secret"] ?? .null,
                ]
            )
            #expect(replaced["client_name"]?.string == "Two" && replaced["registration_access_token"]?.string == token)
            #expect(try await manage("DELETE", token).status == 204)
            #expect(try await manage("GET", token).oauthError == "invalid_token")
            for wrong: JSON in [[:], ["redirect_uris": []], ["redirect_uris": ["/relative"]]] {
                #expect(
                    try await scene.service.post(path, text: wrong.text).oauthError == "invalid_redirect_uri",
                    "\(wrong)"
                )
            }
        }
        try await OAuthScene.run { scene in
            let path = "/\(scene.service.project.id)/oauth/register"
            let reply = try await scene.service.post(path, text: OAuthScene.publicClient().text)
            #expect(reply.oauthError == "access_denied", "off by default: \(reply)")
        }
    }

    @Test("T-F36: another site's page makes its visitors' browsers register no clients")
    func simpleRequests() async throws {
        try await OAuthScene.run {
            $0.oauth.allowsRegistration = true
        } _: { scene in
            let path = "/\(scene.service.project.id)/oauth/register"
            let body = Array(OAuthScene.publicClient().text.utf8)
            let plain = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", nil]
            for type in plain as [String?] {
                let headers = type.map { [("Content-Type", $0)] } ?? []
                let reply = try await scene.service.send("POST", path, headers: headers, body: body)
                #expect(reply.oauthError == "invalid_client_metadata", "\(type ?? "none"): \(reply)")
            }
            for type in ["application/json", "Application/JSON; charset=utf-8"] {
                let reply = try await scene.service.send("POST", path, headers: [("Content-Type", type)], body: body)
                #expect(reply.status == 201, "\(type): \(reply)")
            }
            // A preflight would let a page of any site say that.
            for (origin, error) in [
                ("https://evil.example", "access_denied"), ("null", "access_denied"), ("http://localhost:6274", nil),
            ] {
                let headers = [("Content-Type", "application/json"), ("Origin", origin)]
                let reply = try await scene.service.send("POST", path, headers: headers, body: body)
                #expect(reply.oauthError == error, "\(origin): \(reply)")
            }
        }
    }

    @Test("T-F17: clients that register themselves are small, and forgotten if no user grants them anything", .database)
    func unusedClients() async throws {
        try await OAuthScene.run(OAuthScene.publicClient()) {
            $0.oauth.allowsRegistration = true
        } _: { scene in
            let path = "/\(scene.service.project.id)/oauth/register"
            func register(_ uris: [String], _ more: [String: JSON] = [:]) async throws -> Reply {
                let members: [String: JSON] = [
                    "redirect_uris": .array(uris.map { .string($0) }), "token_endpoint_auth_method": "none",
                ]
                return try await scene.service.post(path, text: JSON.object(members.merging(more) { $1 }).text)
            }
            let many = (0..<11).map { "https://tea.example.com/\($0)" }
            #expect(try await register(many).oauthError == "invalid_client_metadata")
            let long = "https://tea.example.com/" + String(repeating: "a", count: 2_000)
            #expect(try await register((0..<9).map { "\(long)\($0)" }).oauthError == "invalid_client_metadata")
            // Nor are those of admins large, which every node keeps as well.
            let large: JSON = ["redirect_uris": .array((0..<9).map { .string("\(long)\($0)") })]
            let refused = try await scene.service.admin("oauthClients", large, version: "v2")
            #expect(refused.error == "INVALID_CONFIG : The metadata is limited to 16 KB", "\(refused)")
            var ids: [String] = []
            for _ in 0..<2 { ids.append(try #require(try await register([OAuthScene.callback])["client_id"]?.string)) }
            var used = scene
            used.clientID = ids[0]
            let reply = try await used.tokens([("scope", "openid offline_access")])
            reply.expectOK()
            scene.service.clock.advance(by: 91 * 86_400)
            try await scene.service.sweep()
            let left = try await scene.service.admin("oauthClients", version: "v2")["clients"]?.array ?? []
            let names = left.compactMap { $0["client_id"]?.string }
            #expect(names.contains(ids[0]) && !names.contains(ids[1]) && names.contains(scene.clientID), "\(left)")
        }
    }

    @Test("admins list clients page by page")
    func pages() async throws {
        try await OAuthScene.run { scene in
            var ids = [scene.clientID]
            for _ in 0..<4 {
                ids.append(try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service).clientID)
            }
            var (found, token) = ([String](), "")
            for size in [2, 2, 1] {
                let page = try await scene.service.admin("oauthClients?pageSize=2&pageToken=\(token)", version: "v2")
                found += (page["clients"]?.array ?? []).compactMap { $0["client_id"]?.string }
                #expect(page["clients"]?.array?.count == size, "\(page)")
                token = page["nextPageToken"]?.string ?? ""
            }
            #expect(token.isEmpty && found.sorted() == ids.sorted())
            #expect(try await scene.service.admin("oauthClients?pageSize=x", version: "v2").status == 400)
        }
    }

    @Test("T-F10: a client's document is read from its own URL alone, with limits, and only where the project wants it")
    func documents() async throws {
        try await WebReceiver.run { receiver in
            try await OAuthScene.run(OAuthScene.publicClient()) {
                $0.oauth.allowsDocuments = true
            } _: { scene in
                try await readDocuments(of: receiver, scene)
            }
        }
    }

    private func readDocuments(of receiver: WebReceiver, _ scene: OAuthScene) async throws {
        let id = receiver.baseURL + "/agent.json"
        func document(_ change: [String: JSON] = [:]) -> String {
            let usual: [String: JSON] = [
                "client_id": .string(id), "client_name": "Agent", "redirect_uris": [.string(OAuthScene.callback)],
            ]
            return JSON.object(usual.merging(change) { $1 }).text
        }
        let wrongs = [
            document(["client_id": "https://other.example/agent.json"]), document(["client_secret": "x"]),
            document(["token_endpoint_auth_method": "client_secret_basic"]), "[]", "{", document(["redirect_uris": []]),
            document(["client_uri": .string("https://example.com/" + String(repeating: "a", count: 6_000))]),
        ]
        for wrong in wrongs {
            receiver.answer { _ in (200, wrong) }
            let answer = try await scene.open([("client_id", id)])
            #expect(answer.status == 400 && answer.heading != "Sign in", "\(wrong.prefix(80))")
            // What was wrong is not read again within a minute.
            scene.service.clock.advance(by: 60)
        }
        let right = document()
        receiver.answer { _ in (200, right) }
        _ = try await scene.service.signUp(OAuthScene.email)
        let consent = try await scene.signIn(on: scene.open([("client_id", id)]))
        #expect(consent.text.contains("Agent (127.0.0.1)"), "\(consent.text)")
        #expect(receiver.received.count == wrongs.count + 1, "read once")
        let addresses = [
            "https://127.0.0.1/", "https://user@example.com/a", "https://example.com/a/../b", "http://example.com/a",
        ]
        for address in addresses {
            #expect(try await scene.open([("client_id", address)]).status == 400, "\(address)")
        }
    }
}
