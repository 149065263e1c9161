import Projects
import Storage
import TestKit
import Testing

@Suite("Tokens in cookies of an app's host", .database)
struct CookieRoutesTests {
    private static let attributes = "Path=/; Max-Age=34560000; Secure; SameSite=Lax; Partitioned; Priority=High"

    @Test("a sign-in leaves both tokens in cookies, and the page without the refresh token")
    func signsIn() async throws {
        try await CookieApp.run { app in
            _ = try await app.service.signUp("ada@example.com")
            let reply = try await app.signIn()
            #expect(reply.status == 200 && reply["email"] == "ada@example.com", "\(reply)")
            #expect(reply.refreshToken == CookieApp.placeholder)
            let (idToken, refreshToken) = (try #require(reply.idToken), try #require(app.refreshToken))
            #expect(
                reply.setCookies == [
                    "__HOST-FIREBASE_[DEFAULT]=\(idToken); \(Self.attributes)",
                    "\(app.refreshTokenName)=\(refreshToken); \(Self.attributes); HttpOnly",
                ]
            )
            #expect(reply.response.header("cache-control") == "no-store")
            try await app.service.lookUp(idToken).expectOK()
            try await app.service.refresh(refreshToken).expectOK()
        }
    }

    @Test("a refresh takes the token of the cookie, also where tokens rotate", arguments: [false, true])
    func refreshes(rotates: Bool) async throws {
        var options = TestService.Options()
        options.settings.rotateRefreshTokens = rotates
        try await CookieApp.run(options) { app in
            _ = try await app.service.signUp("ada@example.com")
            try await app.signIn()
            var seen: Set<String?> = [app.refreshToken]
            for _ in 1...3 {
                let before = app.idToken
                let reply = try await app.refresh()
                #expect(reply.status == 200 && reply.refreshToken == CookieApp.placeholder, "\(reply)")
                #expect(app.idToken == reply.idToken && app.idToken != before)
                seen.insert(app.refreshToken)
            }
            #expect(seen.count == (rotates ? 4 : 1))
        }
    }

    @Test("a page that has a refresh token of its own moves it into the cookie")
    func movesIn() async throws {
        try await CookieApp.run { app in
            let user = try await app.service.signUp("ada@example.com")
            let reply = try await app.refresh(user.refreshToken ?? "")
            #expect(reply.status == 200 && app.idToken == reply.idToken, "\(reply)")
            #expect(app.refreshToken == user.refreshToken)
        }
    }

    @Test("a cookie of more than 4,096 bytes loses the picture; the page's token and the server's are the same")
    func longCookie() async throws {
        try await CookieApp.run { app in
            let user = try await app.service.signUp("ada@example.com")
            let picture = "https://example.com/" + String(repeating: "p", count: 3_000)
            let changed = try await app.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "photoUrl": .string(picture), "displayName": "Ada"]
            )
            changed.expectOK()
            for reply in [try await app.signIn(), try await app.refresh()] {
                reply.expectOK()
                let pair = try #require(reply.setCookies.first?.prefix { $0 != ";" })
                #expect(pair.utf8.count <= 4_096 && pair.hasSuffix("=" + (reply.idToken ?? "")))
                #expect(reply.claims["picture"] == nil && reply.claims["name"] == "Ada")
                #expect(try await app.service.lookUp(reply.idToken)["users"]?[0]?["photoUrl"] == .string(picture))
            }
            // One that fits keeps it, and so does a token that is in no cookie.
            let direct = try await app.service.signInWithPassword("ada@example.com")
            #expect(direct.claims["picture"] == .string(picture))
            _ = try await app.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "photoUrl": "https://example.com/p"]
            )
            #expect(try await app.refresh().claims["picture"] == "https://example.com/p")
        }
    }

    @Test("a token that fits no cookie is refused by name, before a session is opened")
    func tooLong() async throws {
        try await CookieApp.run { app in
            let service = app.service
            let name = String(repeating: "あ", count: 256)
            let claims = #"{"a":"\#(String(repeating: "a", count: 980))"}"#
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            for uid in ["ada", "eda"] {
                if uid == "ada" {
                    let made = try await service.admin(
                        "accounts",
                        ["localId": "ada", "displayName": .string(name)]
                    )
                    made.expectOK()
                    _ = try await service.admin(
                        "accounts:update",
                        ["localId": "ada", "customAttributes": .string(claims)]
                    )
                }
                var payload = account.payload(uid: uid, at: service.clock.seconds)
                payload["claims"] = ["b": .string(String(repeating: "b", count: 980))]
                let body: JSON = ["token": .string(try account.sign(payload)), "returnSecureToken": true]
                let reply = try await app.send(to: app.target("v1/accounts:signInWithCustomToken"), body.text)
                if uid == "ada" {
                    #expect(reply.status == 400 && reply.code == "COOKIE_TOO_LARGE", "\(reply)")
                    #expect(reply.setCookies.isEmpty)
                    let sessions = try await service.admin("accounts:listSessions", ["localId": "ada"])
                    #expect(sessions["sessions"] == nil || sessions["sessions"] == [], "\(sessions)")
                    // A session that goes on keeps its cookies, until shorter claims bring the user back.
                    let user = try await service.call("accounts:signInWithCustomToken", body)
                    let before = app.cookies
                    let refreshed = try await app.refresh(user.refreshToken ?? "")
                    #expect(refreshed.code == "COOKIE_TOO_LARGE" && app.cookies == before, "\(refreshed)")
                    // Elsewhere such tokens are good.
                    try await service.call("accounts:signInWithCustomToken", body).expectOK()
                } else {
                    reply.expectOK()
                }
            }
        }
    }

    @Test("a sign-out ends both cookies and the session")
    func signsOut() async throws {
        try await CookieApp.run { app in
            _ = try await app.service.signUp("ada@example.com")
            try await app.signIn()
            let (idToken, refreshToken) = (app.idToken, app.refreshToken)
            let reply = try await app.signOut()
            #expect(reply.status == 200 && reply.json == [:], "\(reply)")
            #expect(app.cookies.isEmpty, "\(reply.setCookies)")
            #expect(reply.setCookies.allSatisfy { $0.contains("Secure; SameSite=Lax; Partitioned") })
            #expect(try await app.service.refresh(refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await app.service.lookUp(idToken).error == "TOKEN_EXPIRED")
            try await app.signOut().expectOK()
        }
    }

    @Test("a tenant's user signs out of the tenant's session")
    func signsOutOfTenant() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await CookieApp.run(options) { app in
            let tenant = try await app.service.makeTenant("Northwind", ["allowPasswordSignup": true])
            let body: JSON = [
                "email": "ada@example.com", "password": "correct horse", "tenantId": .string(tenant),
                "returnSecureToken": true,
            ]
            _ = try await app.service.call("accounts:signUp", body)
            let signedIn = try await app.send(to: app.target("v1/accounts:signInWithPassword"), body.text)
            #expect(signedIn.tenant == tenant, "\(signedIn)")
            let refreshToken = app.refreshToken
            try await app.signOut()
            #expect(try await app.service.refresh(refreshToken).error == "TOKEN_EXPIRED")
        }
    }

    @Test("a refused refresh ends the cookies, and without one the user is signed out")
    func endsWithTheSession() async throws {
        try await CookieApp.run { app in
            let user = try await app.service.signUp("ada@example.com")
            try await app.signIn()
            _ = try await app.service.admin("accounts:update", ["localId": JSON(user.localID), "disableUser": true])
            let reply = try await app.refresh()
            #expect(reply.status == 400 && reply.error == "USER_DISABLED", "\(reply)")
            #expect(app.cookies.isEmpty, "\(reply.setCookies)")
            let without = try await app.refresh()
            #expect(without.status == 400 && without.error == "TOKEN_EXPIRED", "\(without)")
        }
    }

    @Test("a refused sign-in says why, and changes no cookie")
    func refusedSignIn() async throws {
        try await CookieApp.run { app in
            _ = try await app.service.signUp("ada@example.com")
            try await app.signIn()
            let before = app.cookies
            let target = app.target("v1/accounts:signInWithPassword")
            let reply = try await app.send(to: target, #"{"email":"ada@example.com","password":"another horse"}"#)
            #expect(reply.status == 400 && reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
            #expect(reply.setCookies.isEmpty && app.cookies == before)
        }
    }

    @Test("an app of another name has cookies of its own, as has another project")
    func partitions() async throws {
        try await CookieApp.run { app in
            _ = try await app.service.signUp("ada@example.com")
            try await app.signIn()
            try await app.signIn(appName: "second")
            let second = app.cookies.filter { $0.key.hasSuffix("second") }
            #expect(
                Set(second.keys) == ["__HOST-FIREBASE_second", "__HOST-FIREBASEID_\(app.service.project.id)_second"]
            )
            #expect(app.cookies.count == 4)
            let others = ["__HOST-FIREBASEID_other-project_[DEFAULT]": "x", "other": "y"]
            for (name, value) in others { app.set(name, value) }
            try await app.signOut()
            #expect(app.cookies == second.merging(["other": "y"]) { $1 })
        }
    }

    @Test("on http, of loopback alone, cookies have the SDK's other names")
    func onLoopback() async throws {
        var options = TestService.Options()
        options.development = true
        try await CookieApp.run(options) { app in
            _ = try await app.service.signUp("ada@example.com")
            let body = #"{"email":"ada@example.com","password":"correct horse","returnSecureToken":true}"#
            let target = app.target("v1/accounts:signInWithPassword", host: "http://localhost:9099")
            let reply = try await app.send(to: target, body, origin: "http://localhost:3000")
            let names = ["__dev_FIREBASE_[DEFAULT]", "__dev_FIREBASEID_\(app.service.project.id)_[DEFAULT]"]
            #expect(reply.status == 200 && Set(app.cookies.keys) == Set(names), "\(reply)")
        }
    }
}
