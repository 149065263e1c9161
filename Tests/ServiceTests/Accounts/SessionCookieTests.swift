import Foundation
import JWTKit
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// Cookies with which a back end keeps people signed in.
@Suite("Session cookies", .database)
struct SessionCookieTests {
    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let aud: AudienceClaim
        let sub: SubjectClaim
        let iat: IssuedAtClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static let certificates = "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys"

    private func header(_ token: String) throws -> JSON {
        let part = try #require(token.split(separator: ".").first)
        return try JSON(parsing: try #require(Base64URL.decode(part)))
    }

    @Test("T-D9: a project may want a recent sign-in for a cookie, which a refresh is not")
    func recentSignIn() async throws {
        for (window, isRefused) in [(0, false), (300, true)] as [(Int64, Bool)] {
            var options = TestService.Options()
            options.settings.sessionCookieSignInSeconds = window
            try await TestService.run(options) { service in
                let user = try await service.signUp("ada@example.com")
                service.clock.advance(by: 300)
                let early = try await service.admin(":createSessionCookie", ["idToken": JSON(user.idToken)])
                early.expectOK()
                service.clock.advance(by: 1)
                let fresh = try await service.refresh(user.refreshToken)
                let late = try await service.admin(":createSessionCookie", ["idToken": JSON(fresh.idToken)])
                if isRefused {
                    late.expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
                } else {
                    late.expectOK()
                }
            }
        }
    }

    @Test("says what the ID token said, under an issuer, times and keys of its own", arguments: [nil, 300, 1_209_600])
    func copiesTheToken(_ duration: Int?) async throws {
        var options = TestService.Options()
        options.settings.signWithES256 = true
        try await TestService.run(options) { service in
            let user = try await service.signUp("ada@example.com")
            let idToken = try #require(user.idToken)
            service.clock.advance(by: 60)
            // Admin SDKs send it as a number, or as text.
            let validDuration: JSON = duration.map { $0 == 300 ? "300" : .number(Double($0)) } ?? .null
            let reply = try await service.admin(
                ":createSessionCookie",
                ["idToken": .string(idToken), "validDuration": validDuration]
            )
            let cookie = try #require(reply["sessionCookie"]?.string, "\(reply)")

            // The keys that Admin SDKs and libraries fetch verify it; those of ID tokens do not.
            let published = try await service.send("GET", "/v1/sessionCookiePublicKeys")
            let judge = JWTKeyCollection()
            let keys = try JSONDecoder().decode(JWKS.self, from: Data(published.response.text.utf8)).keys
            for jwk in keys { try await judge.add(jwk: jwk, isDefault: false) }
            _ = try await judge.verify(cookie, as: Claims.self)
            let kid = try #require(header(cookie)["kid"]?.string)
            #expect(try header(cookie) == ["alg": "RS256", "kid": .string(kid)])
            let certificates = try await service.send("GET", Self.certificates)
            #expect(certificates[kid]?.string?.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true, "\(certificates)")
            let others = try await service.send(
                "GET",
                "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
            )
            #expect(!others.response.text.contains(kid))

            let now = Double(service.clock.seconds)
            let expected = Reply.claims(of: idToken).merging([
                "iss": .string("https://session.firebase.google.com/\(service.project.id)"), "iat": .number(now),
                "exp": .number(now + Double(duration ?? 1_209_600)),
            ])
            #expect(Reply.claims(of: cookie) == expected)
        }
    }

    @Test("T-D6: the cookie of a deleted account is older than one that takes its ID within the second")
    func recreated() async throws {
        try await TestService.run { service in
            let backEnd = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            func signIn() async throws -> Reply {
                let token = try backEnd.sign(backEnd.payload(uid: "person-1", claims: nil, at: service.clock.seconds))
                return try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            }
            var since: [Int64] = []
            for makes in [signIn, { try await service.admin("accounts", ["localId": "person-1"]) }, signIn] {
                let made = try await makes()
                made.expectOK()
                let account = try #require(try await service.account("person-1"))
                let validSince = try #require(Int64(account["validSince"]?.string ?? ""))
                // Admin SDKs compare these (`checkRevoked`).
                if let last = since.last { #expect(validSince > last, "\(account)") }
                let user = made.idToken == nil ? try await signIn() : made
                let cookie = try await service.admin(":createSessionCookie", ["idToken": JSON(user.idToken)])
                let claims = Reply.claims(of: try #require(cookie["sessionCookie"]?.string, "\(cookie)"))
                let authTime = Int64(try #require(claims["auth_time"]?.number))
                #expect(authTime >= validSince)
                since.append(authTime)
                try await service.lookUp(user.idToken).expectOK()
                try await service.refresh(user.refreshToken).expectOK()
                _ = try await service.admin("accounts:delete", ["localId": "person-1"])
            }
        }
    }

    @Test("a cookie that browsers would drop loses the picture; what is still too long is refused by name")
    func length() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.call(
                "accounts:update",
                [
                    "idToken": JSON(user.idToken), "displayName": .string(String(repeating: "あ", count: 256)),
                    "photoUrl": .string("https://example.com/" + String(repeating: "p", count: 3_000)),
                ]
            )
            let long = try await service.refresh(user.refreshToken)
            #expect(long.claims["picture"] != nil)
            let reply = try await service.admin(":createSessionCookie", ["idToken": JSON(long.idToken)])
            let cookie = try #require(reply["sessionCookie"]?.string, "\(reply)")
            #expect(cookie.utf8.count + 64 <= 4_096)
            let claims = Reply.claims(of: cookie)
            #expect(claims["picture"] == nil && claims["name"] == long.claims["name"])

            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            _ = try await service.admin(
                "accounts:update",
                [
                    "localId": JSON(user.localID),
                    "customAttributes": .string(#"{"a":"\#(String(repeating: "a", count: 980))"}"#),
                ]
            )
            var payload = account.payload(uid: user.localID ?? "", at: service.clock.seconds)
            payload["claims"] = ["b": .string(String(repeating: "b", count: 980))]
            let signedIn = try await service.call(
                "accounts:signInWithCustomToken",
                ["token": .string(try account.sign(payload)), "returnSecureToken": true]
            )
            let refused = try await service.admin(":createSessionCookie", ["idToken": JSON(signedIn.idToken)])
            #expect(refused.status == 400 && refused.code == "COOKIE_TOO_LARGE", "\(refused)")
        }
    }

    @Test("T-D2: a session cookie is not an ID token, and takes an ID token to create")
    func isNoIDToken() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let reply = try await service.admin(":createSessionCookie", ["idToken": .string(user.idToken ?? "")])
            let cookie = try #require(reply["sessionCookie"]?.string)
            try await service.lookUp(cookie).expectRefused("INVALID_ID_TOKEN")
            try await service.admin(":createSessionCookie", ["idToken": .string(cookie)])
                .expectRefused("INVALID_ID_TOKEN")
        }
    }

    @Test("is made for whoever is signed in, and for five minutes to two weeks")
    func refuses() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let idToken = JSON.string(user.idToken ?? "")
            try await service.admin(":createSessionCookie", [:]).expectRefused("MISSING_ID_TOKEN")
            for duration: JSON in [0, 299, -300, 1_209_601, "9223372036854775807"] {
                try await service.admin(
                    ":createSessionCookie",
                    ["idToken": idToken, "validDuration": duration]
                ).expectRefused("INVALID_DURATION")
            }
            for text: JSON in ["x", "a.b.c"] {
                try await service.admin(":createSessionCookie", ["idToken": text]).expectRefused("INVALID_ID_TOKEN")
            }
            _ = try await service.admin("accounts:update", ["localId": user["localId"] ?? "", "disableUser": true])
            try await service.admin(":createSessionCookie", ["idToken": idToken]).expectRefused("USER_DISABLED")
            _ = try await service.admin("accounts:update", ["localId": user["localId"] ?? "", "disableUser": false])
            service.clock.advance(by: 1)
            _ = try await service.admin("accounts:signOut", ["localId": user["localId"] ?? "", "scope": "all"])
            try await service.admin(":createSessionCookie", ["idToken": idToken]).expectRefused("TOKEN_EXPIRED")
            _ = try await service.admin("accounts:delete", ["localId": user["localId"] ?? ""])
            try await service.admin(":createSessionCookie", ["idToken": idToken]).expectRefused("USER_NOT_FOUND")
        }
    }
}
