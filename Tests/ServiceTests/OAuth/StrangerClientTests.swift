import Accounts
import Crypto
import Foundation
import IdentityService
import OAuth
import Postgres
import Projects
import Secrets
import Storage
import Synchronization
import TestKit
import Testing
import Text

/// Clients for whom no admin vouches: of metadata documents, and those that registered themselves.
@Suite("Clients of strangers", .database, .serialized)
struct StrangerClientTests {
    /// A client whose document a server has, and what the server answers.
    private struct Site {
        let receiver: WebReceiver
        let scene: OAuthScene

        var id: String { receiver.baseURL + "/agent.json" }

        func document(_ change: [String: JSON] = [:]) -> String {
            let usual: [String: JSON] = [
                "client_id": .string(id), "client_name": "Agent", "redirect_uris": [.string(OAuthScene.callback)],
                "grant_types": ["authorization_code", "refresh_token"],
            ]
            return JSON.object(usual.merging(change) { $1 }).text
        }

        func answer(_ status: Int = 200, _ text: String? = nil) {
            let text = text ?? document()
            receiver.answer { _ in (status, text) }
        }

        func client() async throws -> Reply {
            try await change("GET")
        }

        func change(_ method: String, _ body: JSON? = nil) async throws -> Reply {
            try await scene.service.admin(
                "oauthClients/\(Self.encoded(id))",
                body,
                method: method,
                version: "v2"
            )
        }

        private static func encoded(_ text: String) -> String {
            text.replacing(":", with: "%3A").replacing("/", with: "%2F")
        }
    }

    private static func run(
        letsStrangersUseLoopback: Bool = true,
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (Site) async throws -> Void
    ) async throws {
        try await WebReceiver.run { receiver in
            try await OAuthScene.run(letsStrangersUseLoopback: letsStrangersUseLoopback) {
                $0.oauth.allowsDocuments = true
                $0.oauth.allowsRegistration = true
                change(&$0)
            } _: { scene in
                var scene = scene
                scene.clientID = receiver.baseURL + "/agent.json"
                let site = Site(receiver: receiver, scene: scene)
                site.answer()
                try await body(site)
            }
        }
    }

    // MARK: What an admin says

    @Test(
        "T-F20: a document's client that an admin deleted stays away, with all grants, until an admin takes it over",
        .database
    )
    func blocked() async throws {
        try await Self.run { site in
            let scene = site.scene
            let tokens = try await scene.tokens()
            tokens.expectOK()
            #expect(try await site.client()["origin"] == "document")
            try await site.change("DELETE").expectOK()
            #expect(try await site.change("DELETE").status == 404)
            #expect(try await site.client()["origin"] == "blocked")
            let read = site.receiver.received.count
            scene.service.clock.advance(by: 100 * 86_400)
            try await scene.service.sweep()
            #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_client")
            #expect(try await scene.open().status == 400)
            #expect(site.receiver.received.count == read, "the document is not read again")
            let taken = try await site.change("PATCH", ["client_name": "Ours"])
            #expect(taken["origin"] == "admin", "\(taken)")
            #expect(try await scene.open().heading == "Sign in")
            // What was granted to the one before has ended.
            #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_grant")
            // Deleted again, it is blocked again.
            try await site.change("DELETE").expectOK()
            #expect(try await scene.open().status == 400)
            #expect(site.receiver.received.count == read)
        }
    }

    @Test("T-F20: neither a document nor a registration changes a client that an admin changed", .database)
    func adopted() async throws {
        try await Self.run { site in
            let service = site.scene.service
            #expect(try await site.scene.open().heading == "Sign in")
            let changed = try await site.change("PATCH", ["client_name": "Checked", "trusted": true])
            #expect(changed["origin"] == "admin" && changed["trusted"] == true, "\(changed)")
            let read = site.receiver.received.count
            site.answer(200, site.document(["client_name": "Evil", "redirect_uris": ["https://evil.example/cb"]]))
            service.clock.advance(by: 100 * 86_400)
            try await service.sweep()
            #expect(try await site.scene.open([("redirect_uri", "https://evil.example/cb")]).status == 400)
            #expect(try await site.scene.open().heading == "Sign in")
            #expect(try await site.client()["client_name"] == "Checked")
            #expect(site.receiver.received.count == read)

            let path = "/\(service.project.id)/oauth/register"
            let grants: JSON = [
                "authorization_code", "urn:ietf:params:oauth:grant-type:token-exchange",
            ]
            let made = try await service.post(path, text: OAuthScene.confidentialClient(["grant_types": grants]).text)
            let (id, token) = try (#require(made["client_id"]?.string), made["registration_access_token"]?.string)
            let own = try await service.admin(
                "oauthClients/\(id)",
                ["client_name": "Checked"],
                method: "PATCH",
                version: "v2"
            )
            #expect(own["origin"] == "admin" && own["grant_types"] == ["authorization_code"], "\(own)")
            await #expect(throws: ConfigurationError.notFound) {
                let hash = SecureHash.sha256(token ?? "")
                try await service.stores.oauthClients.delete(id, registeredWith: hash, of: service.project.id)
            }
            for method in ["GET", "PUT", "DELETE"] {
                let reply = try await service.send(
                    method,
                    "\(path)/\(id)",
                    headers: [("Authorization", "Bearer \(token ?? "")"), ("Content-Type", "application/json")],
                    body: method == "PUT" ? Array(OAuthScene.confidentialClient().text.utf8) : nil
                )
                #expect(reply.oauthError == "invalid_token", "\(method): \(reply)")
            }
        }
    }

    @Test("T-F37: a client that an admin takes over is trusted only if the admin says so, and changes itself no more")
    func takenOver() async throws {
        try await Self.run { site in
            let service = site.scene.service
            let path = "/\(service.project.id)/oauth/register"
            let made = try await service.post(path, text: OAuthScene.publicClient().text)
            let (id, token) = try (#require(made["client_id"]?.string), made["registration_access_token"]?.string)
            let project = service.project.id.rawValue
            // Whatever the row says.
            try await TestDatabase.current.client.execute(
                "UPDATE oauth_clients SET trusted = true WHERE project = \(project) AND client = \(id)"
            )
            #expect(try await service.stores.oauthClients.client(id, of: service.project.id)?.isTrusted == false)
            let replaced = try await Race.run(service) { transaction in
                // As the admin's PATCH does.
                try await transaction.execute(
                    """
                    UPDATE oauth_clients SET origin = 'admin', registration_hash = NULL, trusted = false
                    WHERE project = \(project) AND client = \(id)
                    """
                )
            } _: {
                try await service.send(
                    "PUT",
                    "\(path)/\(id)",
                    headers: [("Authorization", "Bearer \(token ?? "")"), ("Content-Type", "application/json")],
                    body: Array(OAuthScene.publicClient(["client_name": "Evil"]).text.utf8)
                )
            }
            #expect(replaced.oauthError == "invalid_token", "\(replaced)")
            let changed = try await service.admin(
                "oauthClients/\(id)",
                ["client_uri": "https://tea.example.com"],
                method: "PATCH",
                version: "v2"
            )
            #expect(changed["client_name"] == "Tea House" && changed["trusted"] == false, "\(changed)")
        }
    }

    // MARK: What the site says

    @Test(
        "T-F19: a document is read where an authorization can begin, and nowhere else; an unused one is soon forgotten",
        .database
    )
    func readWhereItBegins() async throws {
        try await Self.run { site in
            let scene = site.scene
            for endpoint in ["token", "revoke", "introspect"] {
                let reply = try await scene.post(endpoint, [("grant_type", "refresh_token"), ("token", "none")])
                #expect(reply.oauthError == "invalid_client", "\(endpoint): \(reply)")
            }
            #expect(site.receiver.received.isEmpty)
            #expect(try await scene.open().heading == "Sign in")
            #expect(site.receiver.received.count == 1)
            #expect(try await scene.post("revoke", [("token", "none")]).status == 200, "known by now")
            scene.service.clock.advance(by: 2 * 86_400 + 1)
            try await scene.service.sweep()
            let left = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM oauth_clients WHERE client = \(site.id)"
            ) { try $0.next(Int64.self) }
            #expect(left == [0])
        }
    }

    /// What says that there is no such client any more.
    enum Absence: CaseIterable { case notFound, gone, anothers }

    @Test("T-F20: a document that is gone twice takes its client and all grants with it", arguments: Absence.allCases)
    func withdrawn(_ absence: Absence) async throws {
        try await Self.run { site in
            let scene = site.scene
            func vanish() {
                switch absence {
                case .notFound: site.answer(404, "")
                case .gone: site.answer(410, "")
                case .anothers: site.answer(200, site.document(["client_id": "https://other.example/agent.json"]))
                }
            }
            var tokens = try await scene.tokens()
            func refreshes(after seconds: Double) async throws {
                scene.service.clock.advance(by: seconds)
                tokens = try await scene.refresh(tokens.refreshToken)
                tokens.expectOK()
            }
            vanish()
            try await refreshes(after: 86_400)
            // Once is a mistake.
            site.answer()
            try await refreshes(after: 3_600)
            vanish()
            try await refreshes(after: 86_400)
            try await refreshes(after: 3_599)
            scene.service.clock.advance(by: 61)
            let read = site.receiver.received.count
            for _ in 0..<3 {
                #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_client")
            }
            #expect(site.receiver.received.count == read + 1, "read once")
            #expect(try await site.client().status == 404)
            // A later document may be somebody else's, for whom nobody has consented.
            site.answer()
            scene.service.clock.advance(by: 60)
            #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_client")
            let again = try await scene.open()
            let page = again.heading == "Sign in" ? try await scene.signIn(on: again) : again
            #expect(page.heading == "Allow access?", "\(page.text)")
            #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_grant")
        }
    }

    @Test("T-F20: what a site has read by another node since ends nothing")
    func readElsewhere() async throws {
        try await Self.run { site in
            let (scene, service) = (site.scene, site.scene.service)
            try await scene.tokens().expectOK()
            let (clients, project) = (service.stores.oauthClients, service.project.id)
            let before = try #require(try await clients.find(site.id, of: project))
            service.clock.advance(by: 86_400)
            #expect(try await !clients.miss(before, in: project))
            let missing = try #require(try await clients.find(site.id, of: project))
            #expect(missing.missingSince == service.clock.current)
            service.clock.advance(by: 3_600)
            #expect(try await clients.keep(missing.client, until: service.clock.current, in: project))
            #expect(try await !clients.miss(missing, in: project))
            #expect(try await clients.find(site.id, of: project)?.missingSince == nil)
        }
    }

    @Test(
        "T-F20: while the site says nothing of the document, the client is what it was, for a day",
        arguments: [
            (500, ""), (503, ""), (429, ""), (302, ""), (403, "{}"), (200, "{"), (200, "{}"), (200, "<p>Sign in</p>"),
            (200, "too large"),
        ]
    )
    func bridged(_ status: Int, _ text: String) async throws {
        try await Self.run { site in
            let scene = site.scene
            let tokens = try await scene.tokens()
            let padding = String(repeating: " ", count: 5_121 - site.document().utf8.count)
            site.answer(status, text == "too large" ? site.document() + padding : text)
            scene.service.clock.advance(by: 2 * 86_400 - 1)
            let bridged = try await scene.refresh(tokens.refreshToken)
            bridged.expectOK()
            scene.service.clock.advance(by: 61)
            #expect(try await scene.refresh(bridged.refreshToken).oauthError == "invalid_client")
            // It is back, and so is the client.
            site.answer()
            scene.service.clock.advance(by: 61)
            try await scene.refresh(bridged.refreshToken).expectOK()
        }
    }

    @Test("T-F10: whatever is wrong with a document, one thing is said, nothing is stored, and nothing is read twice")
    func wrongDocuments() async throws {
        try await Self.run { site in
            let size = site.document().utf8.count
            let wrongs: [(Int, String)] = [
                (200, site.document() + String(repeating: " ", count: 5_121 - size)), (200, "{"), (200, "[]"),
                (200, "{}"),
                (200, site.document(["client_id": "https://other.example/agent.json"])), (404, site.document()),
                (200, site.document(["redirect_uris": ["javascript:x"]])), (302, ""), (500, ""), (429, ""),
                (200, site.document(["jwks": ["keys": .array(Array(repeating: [:], count: 1_001))]])),
            ]
            var texts: Set<String> = []
            for (number, wrong) in wrongs.enumerated() {
                site.answer(wrong.0, wrong.1)
                for _ in 0..<2 {
                    let page = try await site.scene.open()
                    #expect(page.status == 400, "\(wrong)")
                    texts.insert(page.text.replacing(#/nonce="[^"]*"/#, with: ""))
                }
                #expect(site.receiver.received.count == number + 1, "\(wrong)")
                #expect(try await site.client().status == 404)
                site.scene.service.clock.advance(by: 60)
            }
            #expect(texts.count == 1, "\(texts)")
            site.answer(200, site.document() + String(repeating: " ", count: 5_120 - size))
            #expect(try await site.scene.open().heading == "Sign in")
        }
    }

    // MARK: How often they are read

    private static func assertion(
        of id: String,
        _ key: P256.Signing.PrivateKey,
        at scene: OAuthScene
    ) throws -> [(String, String?)] {
        let claims: JSON = [
            "iss": .string(id), "sub": .string(id), "aud": .string(scene.issuer),
            "jti": .string(RandomSource.system.handle()), "exp": .number(Double(scene.service.clock.seconds) + 60),
        ]
        let text = [#"{"alg":"ES256"}"#, claims.text].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let signature = try key.signature(for: Data(text.utf8)).rawRepresentation
        return [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", text + "." + Base64URL.encode(Array(signature))),
        ]
    }

    @Test("T-F19: strangers' clients make the service fetch keys only as often as their address may")
    func fetches() async throws {
        try await WebReceiver.run { receiver in
            var options = try LimitScene.options {
                $0.oauth.isEnabled = true
                $0.oauth.allowsRegistration = true
                $0.rateLimits[.clientsPerAddress] = RateLimitBudget(count: 30, seconds: 3_600)
            }
            options.ownPages = true
            try await TestService.run(options) { service in
                let key = P256.Signing.PrivateKey()
                receiver.answer { _ in (200, #"{"keys":[{"kty":"oct","k":"AA"}]}"#) }
                func keys(_ name: String) -> JSON {
                    OAuthScene.publicClient([
                        "token_endpoint_auth_method": "private_key_jwt",
                        "jwks_uri": .string(receiver.baseURL + "/" + name),
                    ])
                }
                let admins = try await OAuthScene.register(keys("admin"), at: service)
                func ask(_ id: String) async throws -> Reply {
                    var scene = admins
                    scene.clientID = id
                    return try await scene.refresh("x", try Self.assertion(of: id, key, at: scene))
                }
                var strangers: [String] = []
                for number in 0..<17 {
                    let path = "/\(service.project.id)/oauth/register"
                    let made = try await service.post(path, text: keys("\(number)").text)
                    strangers.append(try #require(made["client_id"]?.string, "\(made)"))
                }
                var refused = 0
                for _ in 0..<3 {
                    for id in strangers where try await ask(id).status == 429 { refused += 1 }
                }
                #expect(receiver.received.count == 13 && refused > 0, "the rest of the thirty")
                // An admin's client is not limited: it has one set of keys, read once.
                for _ in 0..<3 { #expect(try await ask(admins.clientID).oauthError == "invalid_client") }
                #expect(receiver.received.count == 14)
            }
        }
    }

    // MARK: Where they are

    @Test("T-F10: what the operator allows for providers is not for strangers: documents, keys, logout URIs")
    func publicAddresses() async throws {
        try await Self.run(letsStrangersUseLoopback: false) { site in
            let (scene, service) = (site.scene, site.scene.service)
            #expect(try await scene.open().status == 400)
            for host in ["localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"] {
                #expect(try await scene.open([("client_id", "https://\(host)/agent.json")]).status == 400, "\(host)")
            }
            let key = P256.Signing.PrivateKey()
            func assertion(of id: String) throws -> [(String, String?)] {
                try Self.assertion(of: id, key, at: scene)
            }
            let client = OAuthScene.publicClient([
                "token_endpoint_auth_method": "private_key_jwt",
                // That of an admin's client below: what a stranger may not read is not remembered for it.
                "jwks_uri": .string(site.receiver.baseURL + "/ten"),
                "backchannel_logout_uri": .string(site.receiver.baseURL + "/logout"),
            ])
            let made = try await service.post("/\(service.project.id)/oauth/register", text: client.text)
            var stranger = scene
            stranger.clientID = try #require(made["client_id"]?.string, "\(made)")
            let proof = try assertion(of: stranger.clientID)
            #expect(try await stranger.refresh("x", proof).oauthError == "invalid_client")
            #expect(site.receiver.received.isEmpty)

            // An admin's client is where providers may be; too many keys are none.
            let point = Array(key.publicKey.rawRepresentation)
            let jwk: JSON = [
                "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(point.prefix(32))),
                "y": .string(Base64URL.encode(point.suffix(32))),
            ]
            let other: JSON = ["kty": "oct", "k": "AA"]
            for (count, path) in [(10, "/ten"), (11, "/eleven"), (1_001, "/many"), (0, "/large")] {
                let keys: JSON = ["keys": .array([jwk] + Array(repeating: other, count: max(0, count - 1)))]
                let padding = String(repeating: " ", count: count == 0 ? 16_385 - keys.text.utf8.count : 0)
                site.answer(200, keys.text + padding)
                let own = try await OAuthScene.register(
                    OAuthScene.publicClient([
                        "token_endpoint_auth_method": "private_key_jwt",
                        "jwks_uri": .string(site.receiver.baseURL + path),
                    ]),
                    at: service
                )
                let before = site.receiver.received.count
                for _ in 0..<2 {
                    let reply = try await own.refresh("x", try assertion(of: own.clientID))
                    #expect(reply.oauthError == (count == 10 ? "invalid_grant" : "invalid_client"), "\(path): \(reply)")
                }
                #expect(site.receiver.received.count == before + 1, "\(path) is read once")
            }
        }
    }

    @Test("T-F10: a stranger's logout URI is called at public addresses only", arguments: [true, false])
    func logout(isVouchedFor: Bool) async throws {
        try await WebReceiver.run { receiver in
            try await OAuthScene.run(sendsMessages: true, letsStrangersUseLoopback: false) {
                $0.oauth.allowsRegistration = true
            } _: { scene in
                let client = OAuthScene.publicClient([
                    "backchannel_logout_uri": .string(receiver.baseURL + "/logout")
                ])
                var scene = scene
                if isVouchedFor {
                    scene = try await OAuthScene.register(client, at: scene.service)
                } else {
                    let path = "/\(scene.service.project.id)/oauth/register"
                    let made = try await scene.service.post(path, text: client.text)
                    scene.clientID = try #require(made["client_id"]?.string)
                }
                try await scene.tokens().expectOK()
                let user = try await scene.service.signInWithPassword(OAuthScene.email)
                let out: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
                try await scene.service.call("accounts:signOut", out).expectOK()
                for _ in 0..<2 { try await scene.service.assembly.deliveries.deliverDue() }
                #expect(receiver.received.count == (isVouchedFor ? 1 : 0))
            }
        }
    }

    // MARK: What users see

    @Test(
        "T-F10: the page says where an application comes from, and that nobody vouches for it",
        arguments: [
            ("en", "Registered by Tea Garden", "Unverified: it registered itself", "127.0.0.1 (unverified)"),
            ("de", "Von Tea Garden registriert", "Nicht überprüft", "127.0.0.1 (nicht überprüft)"),
            ("ja", "Tea Garden が登録したアプリ", "未確認（アプリ自身による登録）", "127.0.0.1（未確認）"),
        ]
    )
    func consent(_ language: String, _ admin: String, _ itself: String, _ host: String) async throws {
        try await Self.run { site in
            let service = site.scene.service
            _ = try await service.signUp(OAuthScene.email)
            let registered = try await service.post(
                "/\(service.project.id)/oauth/register",
                text: OAuthScene.publicClient().text
            )
            let own = try await OAuthScene.register(OAuthScene.publicClient(), at: service).clientID
            for (client, text) in [
                (own, admin), (registered["client_id"]?.string ?? "", itself), (site.id, host),
            ] {
                var scene = site.scene
                scene.browser = ScriptedBrowser()
                let start = try await scene.open([("client_id", client), ("ui_locales", language)])
                let page = try await scene.signIn(on: start)
                let shown = page.text.replacing("<bdi>", with: "").replacing("</bdi>", with: "")
                #expect(shown.contains(text), "\(client): \(page.text)")
                // Where the user withdraws it, too, if nobody vouches for it.
                scene.clientID = client
                try await scene.redeem(scene.press("allow", on: page).query["code"]).expectOK()
                let list = try await scene.browser.open("\(scene.issuer)/oauth/grants?ui_locales=\(language)")
                let listed = list.text.replacing("<bdi>", with: "").replacing("</bdi>", with: "")
                #expect(listed.contains(text) == (client != own), "\(client): \(list.text)")
            }
        }
    }
}
