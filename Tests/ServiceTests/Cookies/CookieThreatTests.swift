import InMemoryLogging
import Projects
import Storage
import TestKit
import Testing

@Suite("Attacks on tokens in cookies", .database)
struct CookieThreatTests {
    private func run(_ body: @Sendable (CookieApp) async throws -> Void) async throws {
        try await CookieApp.run { app in
            _ = try await app.service.signUp("ada@example.com")
            try await body(app)
        }
    }

    private struct Sender: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var origin: String?
        var site: String?
    }

    private static let strangers: [Sender] = [
        Sender(testDescription: "another site", origin: "https://evil.example", site: "cross-site"),
        Sender(testDescription: "another host of the site", origin: "https://blog.example.com", site: "same-site"),
        Sender(testDescription: "a claimed origin", origin: CookieApp.origin, site: "cross-site"),
        Sender(testDescription: "nobody's page", origin: CookieApp.origin, site: "none"),
        Sender(testDescription: "no origin", origin: nil, site: "same-origin"),
        Sender(testDescription: "an opaque origin", origin: "null", site: "same-origin"),
        Sender(testDescription: "an old browser, another host", origin: "https://blog.example.com", site: nil),
        Sender(testDescription: "an origin with a path", origin: "https://app.example.com/x", site: "same-origin"),
    ]

    @Test("T-D15: only a page of the host itself signs in, refreshes and signs out", arguments: strangers)
    private func crossOrigin(_ stranger: Sender) async throws {
        try await run { app in
            try await app.signIn()
            let before = app.cookies
            let form = "grant_type=refresh_token&refresh_token=\(CookieApp.placeholder)"
            let type = "application/x-www-form-urlencoded"
            let refresh = try await app.send(
                to: app.target("v1/token"),
                form,
                type: type,
                origin: stranger.origin,
                site: stranger.site
            )
            #expect(refresh.status == 403 && refresh.setCookies.isEmpty, "\(refresh)")
            // Login CSRF: a form of another site sends JSON as plain text.
            let signIn = try await app.send(
                to: app.target("v1/accounts:signInWithPassword"),
                #"{"email":"ada@example.com","password":"correct horse","x":"="}"#,
                type: "text/plain",
                origin: stranger.origin,
                site: stranger.site
            )
            #expect(signIn.status == 403 && signIn.setCookies.isEmpty, "\(signIn)")
            let signOut = try await app.send("DELETE", to: nil, origin: stranger.origin, site: stranger.site)
            #expect(signOut.status == 403 && signOut.setCookies.isEmpty, "\(signOut)")
            #expect(app.cookies == before)
            #expect(try await app.refresh().status == 200, "the session has not ended")
        }
    }

    @Test("an old browser's page is one of the host by its Origin")
    func withoutFetchMetadata() async throws {
        try await run { app in
            let host = app.service.baseURL.drop { $0 != ":" }.dropFirst(3)
            let body = #"{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}"#
            let target = app.target("v1/accounts:signInWithPassword")
            let own = try await app.send(to: target, body, origin: "https://\(host)", site: nil)
            own.expectOK()
            let foreign = try await app.send(to: target, body, origin: "https://127.0.0.1", site: nil)
            #expect(foreign.status == 403, "\(foreign)")
        }
    }

    @Test("pages of a subdomain get tokens, as its popups do")
    func subdomain() async throws {
        try await run { app in
            let body = #"{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}"#
            let target = app.target("v1/accounts:signInWithPassword")
            let reply = try await app.send(to: target, body, origin: "https://b1.app.example.com")
            #expect(reply.status == 200 && reply.setCookies.count == 2, "\(reply)")
        }
    }

    @Test(
        "T-D15: only pages of the project's authorized domains get tokens, and on https alone",
        arguments: ["https://evil.example", "https://app.example.com.evil.example", "http://app.example.com"]
    )
    func unauthorizedDomain(_ origin: String) async throws {
        try await run { app in
            let body = #"{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}"#
            let target = app.target("v1/accounts:signInWithPassword")
            let reply = try await app.send(to: target, body, origin: origin)
            #expect(reply.status == 400 && reply.code == "UNAUTHORIZED_DOMAIN", "\(reply)")
            #expect(reply.setCookies.isEmpty)
        }
    }

    @Test(
        "T-D16: a target that is not the service's own is refused, and nothing is sent anywhere",
        arguments: [
            "https://evil.example", "http://id.example.com", "https://id.example.com:8443",
            "https://id.example.com@evil.example",
            "https://evil.example\\@id.example.com", "https://id.example.com.evil.example", "//id.example.com",
            "id.example.com",
            "https://169.254.169.254", "http://127.0.0.1", "file://id.example.com", "",
        ]
    )
    func foreignTarget(_ host: String) async throws {
        try await run { app in
            let target = app.target("v1/accounts:signInWithPassword", host: host)
            let body = #"{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}"#
            let reply = try await app.send(to: target, body)
            #expect(reply.status == 400 && reply.setCookies.isEmpty, "\(reply)")
            #expect(reply.error?.hasPrefix("finalTarget must be") == true, "\(reply)")
        }
    }

    @Test(
        "T-D16: of the service's operations only those that return tokens are performed",
        arguments: [
            ("v1/accounts:lookup", 404), ("v1/accounts:delete", 404), ("v1/accounts:update", 404),
            ("v1/accounts:signUp", 404), ("__cookies__", 404), ("console", 404), ("healthz", 404), ("", 404),
            ("v1/projects/demo/accounts", 404), ("identitytoolkit.googleapis.com/v1/accounts:lookup", 404),
            ("v1/x/../accounts:signInWithPassword", 400), ("v1/%2e%2e/v1/accounts:signInWithPassword", 400),
        ]
    )
    func otherOperation(_ path: String, _ status: Int) async throws {
        try await run { app in
            try await app.signIn()
            let reply = try await app.send(to: app.target(path), #"{"idToken":"x"}"#)
            #expect(reply.status == status && reply.setCookies.isEmpty, "\(reply)")
        }
    }

    @Test("T-D16: a target's key must name a project, and credentials of the request are not the target's")
    func credentials() async throws {
        try await run { app in
            for key in ["", "none"] {
                let reply = try await app.send(to: app.target("v1/accounts:signInWithPassword", key: key), "{}")
                #expect(reply.status == 403 || reply.status == 400, "\(reply)")
            }
            let path = CookieApp.path(app.target("v1/accounts:signInWithIdp"))
            let headers = [
                ("Origin", CookieApp.origin), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json"),
                ("Authorization", "Bearer \(app.service.adminToken)"),
            ]
            let reply = try await app.service.send("POST", path, headers: headers, body: Array("{}".utf8))
            #expect(reply.status == 400, "\(reply)")
        }
    }

    @Test("T-D17: the cookie of another project or app is not used, whatever its name says")
    func otherProject() async throws {
        try await run { app in
            var settings = ProjectSettings()
            settings.authorizedDomains = ["app.example.com"]
            let id = try #require(ProjectID(rawValue: "other-project"))
            let other = try await app.service.stores.configuration.createProject(id, settings: settings)
            let key = try await app.service.stores.configuration.createAPIKey(for: other.id, displayName: nil)
            try await app.signIn()
            let (name, token) = (app.refreshTokenName, try #require(app.refreshToken))
            try await app.service.stores.configuration.refresh()
            // The other project finds no cookie of its own,
            let without = try await app.refresh(key: key.rawValue)
            #expect(without.status == 400 && without.error == "TOKEN_EXPIRED", "\(without)")
            #expect(app.cookies[name] == token)
            // and refuses this one's under its name.
            app.set("__HOST-FIREBASE_[DEFAULT]", nil)
            app.set("__HOST-FIREBASEID_other-project_[DEFAULT]", token)
            let foreign = try await app.refresh(key: key.rawValue)
            #expect(foreign.status == 400 && foreign.error == "PROJECT_NUMBER_MISMATCH", "\(foreign)")
        }
    }

    @Test("T-D17: a page that signed out stays so, though its DELETE did not arrive")
    func signedOut() async throws {
        try await run { app in
            try await app.signIn()
            app.set("__HOST-FIREBASE_[DEFAULT]", "")
            let reply = try await app.refresh()
            #expect(reply.status == 400 && reply.error == "TOKEN_EXPIRED", "\(reply)")
            #expect(app.cookies.isEmpty)
        }
    }

    @Test("T-D17: two refresh tokens of one name are none")
    func doubled() async throws {
        try await run { app in
            try await app.signIn()
            let token = try #require(app.refreshToken)
            app.set("x", "1; \(app.refreshTokenName)=\(token)")
            let reply = try await app.refresh()
            #expect(reply.status == 400 && reply.error == "TOKEN_EXPIRED", "\(reply)")
        }
    }

    @Test("T-D18: no script reads the refresh token, and no log has it")
    func hidden() async throws {
        try await run { app in
            for reply in [try await app.signIn(), try await app.refresh()] {
                let token = try #require(app.refreshToken)
                #expect(!reply.text.contains(token) && reply.text.contains(CookieApp.placeholder))
                let readable = reply.setCookies.filter { !$0.contains("HttpOnly") }
                #expect(readable.count == 1 && !readable[0].contains(token))
                let log = app.service.logs.entries.map { "\($0.message) \($0.metadata)" }
                #expect(!log.isEmpty && !log.contains { $0.contains(token) })
            }
        }
    }

    @Test(
        "T-D18: an app's name is part of a cookie's name, and of nothing else",
        arguments: ["a;b", "a=b", "a%20b", "a%0Ab", "", "a/b"]
    )
    func appName(_ name: String) async throws {
        try await run { app in
            let reply = try await app.signIn(appName: name)
            #expect(reply.status == 400 && reply.setCookies.isEmpty, "\(reply)")
        }
    }
}
