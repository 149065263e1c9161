import StrictJSON
import TestKit
import Testing
import Text

/// The service's copy of a redirect's result, for the frames of browsers that partition storage by origin.
@Suite("Results of redirects", .database, .testProvider)
struct RedirectResultTests {
    private static let app = "http://localhost:8000"

    /// The cookie under which a result is kept.
    private func kept(_ page: OpenedPage) -> String? {
        page.cookies.first { $0.contains("identity-redirect=") }.map { String($0.prefix { $0 != ";" }) }
    }

    private func take(
        _ scene: ProviderScene,
        _ cookie: String?,
        key: String? = nil,
        appName: String = "[DEFAULT]",
        origin: String = app,
        from site: String? = "same-origin"
    ) async throws -> Reply {
        let body: JSON = [
            "apiKey": .string(key ?? scene.service.apiKey), "appName": .string(appName), "origin": .string(origin),
        ]
        var headers = [("Content-Type", "application/json")]
        if let cookie { headers.append(("Cookie", cookie)) }
        if let site { headers.append(("Sec-Fetch-Site", site)) }
        return try await scene.service.send("POST", "/__/auth/iframe", headers: headers, body: Array(body.text.utf8))
    }

    @Test("the app's frame takes the event that the handler page has, once, and signs in with it")
    func takesOnce() async throws {
        try await ProviderScene.runPages(.apple) { scene in
            let result = try await scene.result(scene.parameters("signInViaRedirect"))
            let cookie = try #require(kept(result), "\(result.cookies)")
            scene.secrets.add(String(cookie.drop { $0 != "=" }.dropFirst()))
            let header = try #require(result.cookies.last)
            #expect(
                header.contains("; HttpOnly; ") && header.contains("Max-Age=600; ") && header.hasSuffix("SameSite=Lax")
            )
            let frame = try await scene.service.send(
                "GET",
                "/__/auth/iframe?appName=x&apiKey=\(scene.service.apiKey)",
                headers: [("Cookie", cookie)]
            )
            #expect(try OpenedPage(frame).data["kept"]?.string == scene.service.baseURL + "/__/auth/iframe")
            let taken = try await take(scene, cookie)
            #expect(taken.status == 200 && taken.json == result.event, "\(taken)")
            #expect(try OpenedPage(taken).cookies.contains { $0.hasPrefix("identity-redirect=; Path=/; Max-Age=0; ") })
            #expect(try await take(scene, cookie).status == 204)
            try await scene.signIn(with: taken.json).expectOK()
        }
    }

    @Test(
        "T-E8: a large result, which anybody can send, is left to the page's own storage",
        arguments: [1_000, 20_000]
    )
    func large(_ size: Int) async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let page = try await scene.open(scene.parameters("signInViaRedirect"))
            let state = page.data["state"]?.string ?? ""
            let query = FormFields(pairs: [("code", String(repeating: "a", count: size)), ("state", state)])
            let path = "\(ProviderScene.handler)?\(query.text)"
            let headers = [("Cookie", page.cookie ?? "")]
            let result = try OpenedPage(try await scene.service.send("GET", path, headers: headers))
            #expect(result.data["event"] != nil && (kept(result) != nil) == (size == 1_000), "\(result.cookies)")
        }
    }

    @Test("a provider's refusal comes that way too; a fault before the way there is kept nowhere (T-E9)")
    func faults() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let page = try await scene.open(scene.parameters("signInViaRedirect"))
            let query = FormFields(pairs: [("error", "access_denied"), ("state", page.data["state"]?.string ?? "")])
            let path = "\(ProviderScene.handler)?\(query.text)"
            let refused = try OpenedPage(
                try await scene.service.send("GET", path, headers: [("Cookie", page.cookie ?? "")])
            )
            let taken = try await take(scene, kept(refused))
            #expect(taken.status == 200 && taken.json == refused.data["event"])
            #expect(taken.json["error"]?["code"] == "auth/user-cancelled", "\(taken)")
            let parameters = scene.parameters("signInViaRedirect").map {
                $0.0 == "providerId" ? ($0.0, "oidc.none") : $0
            }
            let early = try await scene.open(parameters)
            #expect(early.data["event"]?["error"]?["code"] == "auth/operation-not-allowed" && kept(early) == nil)
        }
    }

    @Test("T-B1: nobody else's page takes it: another app's, origin's or site's, without the browser's cookie, or late")
    func othersTakeNothing() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let result = try await scene.result(scene.parameters("signInViaRedirect"))
            let cookie = try #require(kept(result))
            let other = try await scene.result(scene.parameters("signInViaPopup"))
            #expect(kept(other) == nil, "a popup's result goes to the page that waits for it")
            for none in [nil, cookie + "x", "identity-redirect=", "identity-redirect=1.guess", "identity-redirect=..."]
            {
                #expect(try await take(scene, none).status == 204, "\(none ?? "none")")
            }
            for origin in [
                "http://localhost:8001", "https://localhost:8000", "http://localhost", "", Self.app + "/", "null",
            ] {
                #expect(try await take(scene, cookie, origin: origin).status == 204, "\(origin)")
            }
            #expect(try await take(scene, cookie, appName: "other").status == 204)
            #expect(try await take(scene, cookie, key: "other").status == 204)
            for site in ["same-site", "cross-site", "none", nil] {
                #expect(try await take(scene, cookie, from: site).status == 403, "\(site ?? "none said")")
            }
            // None of that took it; time does.
            scene.service.clock.advance(by: 599)
            let frame = try await take(scene, cookie)
            frame.expectOK()
            let late = try await scene.result(scene.parameters("signInViaRedirect"))
            scene.service.clock.advance(by: 601)
            #expect(try await take(scene, kept(late)).status == 204)
        }
    }

    @Test("of simultaneous frames, one gets it")
    func race() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let result = try await scene.result(scene.parameters("signInViaRedirect"))
            let cookie = kept(result)
            let answers = try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { try await take(scene, cookie).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.sorted() == [200] + Array(repeating: 204, count: 7))
        }
    }
}
