import Development
import Domain
import Foundation
import Projects
import Testing
import TestKit
import Text

@Suite("Attacks on the handler page", .database, .testProvider)
struct HandlerThreatTests {
    typealias Kind = ProviderScene.Kind

    // MARK: Whose browser it is

    @Test(
        "T-B1: only the browser that began is brought to an end, and once",
        arguments: [Kind.oidc, .apple, .yahooJapan]
    )
    func otherBrowser(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            let attackers = try await scene.open(scene.parameters())
            let victims = try await scene.open(scene.parameters())
            let visit = try await scene.visit(attackers)
            let name = String(attackers.cookie?.prefix { $0 != "=" } ?? "")
            let secret = try #require(victims.data["browser"]?.string)
            // The victim's browser is led to the attacker's callback.
            for cookie in [
                nil, victims.cookie, "\(name)=", "\(name)=guess", "\(name)=\(secret)", "x\(attackers.cookie ?? "")",
            ] {
                let page = try await scene.comeBack(visit, cookie: cookie)
                #expect(page.event == nil, "\(cookie ?? "none")")
                #expect(page.code == "auth/invalid-credential", "\(cookie ?? "none")")
            }
            for browser in ["", "guess", secret, String(secret.dropLast()), "0.\(secret)"] {
                let page = try await scene.comeBack(visit, cookie: nil, browser: browser)
                #expect(page.event == nil && page.code == "auth/invalid-credential", "\(browser)")
            }
            // The attacker's page knows the attacker's secret, and has the victim's browser post it.
            for site in [nil, "cross-site", "same-site", "none"] {
                let own = attackers.data["browser"]?.string
                let page = try await scene.comeBack(visit, cookie: victims.cookie, browser: own, from: site)
                #expect(page.event == nil && page.code == "auth/invalid-credential", "\(site ?? "none said")")
            }
            // None of that ended it.
            let result = try await scene.comeBack(visit, cookie: attackers.cookie)
            #expect(result.event?["sessionId"]?.string != nil, "\(result.reply)")
            let again = try await scene.comeBack(visit, cookie: attackers.cookie)
            #expect(again.event == nil && again.code == "auth/invalid-credential")
            try await scene.signIn(with: result.event).expectOK()
        }
    }

    @Test("a browser without the cookie can send the page's copy instead", arguments: [Kind.oidc, .apple, .yahooJapan])
    func keptSecret(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            let page = try await scene.open(scene.parameters())
            let visit = try await scene.visit(page)
            let look = try await scene.comeBack(visit, cookie: nil)
            #expect(look.action == "prove" && look.event == nil)
            #expect(look.data["state"] == page.data["state"])
            let result = try await scene.comeBack(visit, cookie: nil, browser: page.data["browser"]?.string)
            let event = try #require(result.event, "\(result.reply)")
            #expect(event["postBody"]?.string?.contains("identity.browser") == false)
            try await scene.signIn(with: event).expectOK()
        }
    }

    @Test("T-B9: a response in the URL is refused where a form post was asked for", arguments: [true, false])
    func answerInTheAddress(hasCookie: Bool) async throws {
        try await ProviderScene.runPages(.apple) { scene in
            let page = try await scene.open(scene.parameters())
            let visit = try await scene.visit(page)
            var inAddress = visit
            inAddress.url += "?" + (try #require(visit.posted).text)
            inAddress.posted = nil
            let browser = hasCookie ? nil : page.data["browser"]?.string
            if !hasCookie {
                let asked = try await scene.comeBack(inAddress, cookie: nil)
                #expect(asked.action == "prove" && asked.data["isPosted"] == false, "\(asked.reply)")
            }
            let back = try await scene.comeBack(inAddress, cookie: hasCookie ? page.cookie : nil, browser: browser)
            #expect(back.event == nil && back.code == "auth/invalid-credential", "\(back.reply)")
        }
    }

    @Test("T-A14: a link flow that another browser began cannot be finished here")
    func forcedLink() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let page = try await scene.open(scene.parameters("linkViaPopup"))
            let visit = try await scene.visit(page)
            let delivered = try await scene.comeBack(visit, cookie: nil)
            #expect(delivered.event == nil && delivered.data["sessionId"] == nil)
            // Nor does the address alone link anything, without the session id that only the first browser gets.
            let victim = try await scene.service.signUp("victim@example.com")
            scene.secrets.add("victim@example.com")
            let reply = try await scene.service.finishFlow(at: visit.url, sessionID: "guess", idToken: victim.idToken)
            #expect(reply.code == "INVALID_IDP_RESPONSE")
        }
    }

    @Test("T-B16: what a page of one flow holds ends no other flow")
    func pageOfAnotherFlow() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let first = try await scene.open(scene.parameters())
            let second = try await scene.open(scene.parameters())
            #expect(first.cookie != second.cookie && first.data["browser"] != second.data["browser"])
            let visit = try await scene.visit(first)
            let mixed = try await scene.comeBack(visit, cookie: nil, browser: second.data["browser"]?.string)
            #expect(mixed.event == nil)
            let both = "\(second.cookie ?? ""); \(first.cookie ?? "")"
            #expect(try await scene.comeBack(visit, cookie: both).event != nil, "two windows at a time")
        }
    }

    @Test("a flow ends after ten minutes, and with the domain or the app that it would go to")
    func ends() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let late = try await scene.open(scene.parameters())
            let visit = try await scene.visit(late)
            scene.service.clock.advance(by: 601)
            #expect(try await scene.comeBack(visit, cookie: late.cookie).code == "auth/invalid-credential")
            let page = try await scene.open(scene.parameters("signInViaRedirect"))
            let other = try await scene.visit(page)
            _ = try await scene.service.admin(
                "config?updateMask=authorizedDomains",
                ["authorizedDomains": ["app.example.com"]],
                method: "PATCH",
                version: "v2"
            )
            let result = try await scene.comeBack(other, cookie: page.cookie)
            #expect(result.code == "auth/unauthorized-domain" && result.event == nil)
        }
    }

    // MARK: Where browsers are sent

    @Test("T-B6, T-B7: no page but the project's own is returned to, not even with an error")
    func openRedirect() async throws {
        let domains = ["app.example.com", "localhost", "xn--bcher-kva.example"]
        try await ProviderScene.runPages(.oidc) {
            $0.service.settings.authorizedDomains = domains
        } _: { scene in
            // A fragment and a parameter of that name are the app's own matter here.
            let harmless = [
                "https://app.example.com/#", "https://app.example.com/?", "https://app.example.com/?a=b&STATE=x",
            ]
            let malicious = ContinueURIThreatTests.malicious.filter { uri in !harmless.contains { uri.hasPrefix($0) } }
            #expect(malicious.count > 60)
            let more = ["https://evil.example/#https://app.example.com/", #"https://app.example.com/#\\evil.example"#]
            for uri in malicious + more {
                for type in ["signInViaRedirect", "signInViaPopup"] {
                    for provider in [scene.provider.rawValue, "oidc.nobody"] {
                        let parameters = scene.parameters(type).filter {
                            !["redirectUrl", "providerId"].contains($0.0)
                        }
                        let page = try await scene.open(
                            parameters + [("redirectUrl", uri), ("providerId", provider)]
                        )
                        #expect(page.reply.status == 400 && page.data == .null, "\(uri)")
                        #expect(page.code == "auth/unauthorized-domain" && !page.text.contains("href"), "\(uri)")
                    }
                }
            }
            // The other way round, the provider's answer names a target of its own.
            let page = try await scene.open(scene.parameters("signInViaRedirect"))
            let state = try #require(page.data["state"]?.string)
            let result = try await scene.open(
                [("error", "access_denied"), ("state", state), ("redirectUrl", "https://evil.example")],
                cookie: page.cookie
            )
            #expect(result.data["url"] == "http://localhost:8000/app?a=b#/route")
            #expect(result.event?["error"]?["code"] == "auth/user-cancelled")
            let foreign = try await scene.open([
                ("error", "access_denied"), ("state", "x"), ("continueUri", "https://evil.example"),
            ])
            #expect(foreign.action == "prove" && !foreign.text.contains("evil.example"))
        }
    }

    @Test("T-E3: what providers and apps are told of our address is configured, whatever a request says of it")
    func ownAddress() async throws {
        try await ProviderScene.runPages(.oidc) {
            $0.service.ownPages = false
        } _: { scene in
            let port = try #require(URLComponents(string: scene.service.baseURL)?.port)
            let path = "\(ProviderScene.handler)?\(FormFields(pairs: scene.parameters()).text)"
            let headers = """
                Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: http\r\n\
                Forwarded: host=evil.example;proto=http\r\nConnection: close\r\n
                """
            let page = try await RawConnection.open(port: port) { connection in
                try await connection.send("GET \(path) HTTP/1.1\r\n\(headers)\r\n\r\n")
                return try await connection.readAll()
            }
            #expect(page.contains("redirect_uri=https%3A%2F%2Fid.example.com%2F__%2Fauth%2Fhandler"), "\(page)")
            #expect(
                !page.contains("evil") && page.contains("Set-Cookie: __Host-") || page.contains("set-cookie: __Host-")
            )
        }
    }

    @Test("T-B10: fields posted beside Apple's token are untrusted, and no address is taken from them")
    func unsignedUser() async throws {
        try await ProviderScene.runPages(.apple) { scene in
            let page = try await scene.open(scene.parameters())
            var visit = try await scene.visit(page)
            let lie = #"{"name":{"firstName":"Eve"},"email":"victim@example.com"}"#
            let fields = (visit.posted?.pairs ?? []).map { ($0.name, $0.value) }.filter { $0.0 != "user" }
            visit.posted = FormFields(pairs: fields + [("user", lie)])
            let result = try await scene.comeBack(visit, cookie: page.cookie)
            #expect(result.event?["postBody"]?.string?.contains("victim") == true)
            let reply = try await scene.signIn(with: result.event)
            #expect(reply["email"] == "ada@example.com" && reply["displayName"] == "Eve", "\(reply)")
        }
    }

    @Test("T-B10: a name that came once is kept when the exchange fails, and one that is overlong is no name")
    func nameThatComesOnce() async throws {
        try await ProviderScene.runPages(.apple) { scene in
            func comeBack(with user: String?) async throws -> OpenedPage {
                let page = try await scene.open(scene.parameters())
                var visit = try await scene.visit(page)
                let fields = (visit.posted?.pairs ?? []).map { ($0.name, $0.value) }.filter { $0.0 != "user" }
                visit.posted = FormFields(pairs: fields + (user.map { [("user", $0)] } ?? []))
                return try await scene.comeBack(visit, cookie: page.cookie)
            }
            let name = #"{"name":{"firstName":"Ada"}}"#
            scene.tenant.addFault(.status(500), at: .token)
            let failed = try await scene.signIn(with: try await comeBack(with: name).event)
            #expect(failed.status >= 400, "\(failed)")
            let overlong = name.dropLast() + #","more":"\#(String(repeating: "x", count: 4_096))"}"#
            let reply = try await scene.signIn(
                with: try await comeBack(with: String(overlong).replacing("Ada", with: "Eve")).event
            )
            #expect(reply.status == 200 && reply["displayName"] == "Ada", "\(reply)")
        }
    }

    // MARK: Pages

    @Test(
        "T-B11, T-B12, T-B13: pages go into no cache, referrer or frame, and are no redirect",
        arguments: [Kind.oidc, .apple]
    )
    func headers(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            let page = try await scene.open(scene.parameters())
            let result = try await scene.comeBack(try await scene.visit(page), cookie: page.cookie)
            let ended = try await scene.open([("state", "x")])
            for page in [page, result, ended] {
                let response = page.reply.response
                #expect(!(300..<400).contains(response.status) && response.header("location") == nil)
                #expect(response.header("cache-control") == "no-store")
                #expect(response.header("referrer-policy") == "no-referrer")
                #expect(response.header("cross-origin-opener-policy") == "unsafe-none")
                #expect(response.header("x-content-type-options") == "nosniff")
                let policy = try #require(response.header("content-security-policy"))
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"))
                #expect(policy.firstMatch(of: #/script-src 'nonce-[A-Za-z0-9_-]{43}';/#) != nil, "\(policy)")
                #expect(response.body.count < 20_000)
                #expect(page.text.firstMatch(of: #/(src|href)="https?://(?!127\.0\.0\.1)/#) == nil, "another host")
            }
        }
    }

    @Test("T-B14: no input becomes script or markup")
    func script() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let hostile = #"</script><script>alert(1)</script><img src=x onerror=alert(1)>"'&<!--"#
            for (name, _) in scene.parameters() + [
                ("ibi", ""), ("apn", ""), ("tid", ""), ("sessionId", ""), ("hl", ""),
            ] {
                let parameters = scene.parameters().filter { $0.0 != name } + [(name, hostile)]
                expectInert(try await scene.open(parameters), name)
            }
            for name in ["error_description", "code", "iss", "state"] {
                let page = try await scene.open(scene.parameters())
                let state = name == "state" ? [] : [("state", page.data["state"]?.string ?? "")]
                let fields = state + [("error", hostile), (name, hostile)]
                let query = try await scene.open(fields, cookie: page.cookie)
                expectInert(query, name)
                let other = try await scene.open(scene.parameters())
                let posted = (name == "state" ? [] : [("state", other.data["state"]?.string ?? "")]) + [(name, hostile)]
                let reply = try await scene.service.send(
                    "POST",
                    ProviderScene.handler,
                    headers: other.cookie.map { [("Cookie", $0)] } ?? [],
                    body: Array(FormFields(pairs: posted).text.utf8)
                )
                expectInert(try OpenedPage(reply), name)
            }
        }
    }

    @Test(
        "T-B14: a letter or mark that joins a bracket to one Character does not hide it from the page",
        arguments: ["\u{d4e}</script>\u{d4e}<hr>\u{d4e}<img src=x>", "<\u{301}/script><\u{301}hr>"]
    )
    func joinedBrackets(_ hostile: String) async throws {
        // What a browser sees: bytes.
        @Sendable func scripts(_ page: OpenedPage) -> [Int] {
            let ascii = String(decoding: page.text.utf8.filter { $0 < 0x80 }, as: UTF8.self)
            #expect(!ascii.contains("<hr>") && !ascii.contains("<img"), "\(page.reply)")
            return [ascii.ranges(of: "<script").count, ascii.ranges(of: "</script").count]
        }
        try await ProviderScene.runPages(.oidc) { scene in
            let service = scene.service
            let state = FormFields(pairs: [("state", hostile)])
            #expect(try await scripts(scene.open([("state", hostile)])) == [2, 2])
            let posted = try await service.send("POST", ProviderScene.handler, body: Array(state.text.utf8))
            #expect(try scripts(OpenedPage(posted)) == [2, 2])
            let started = try await scene.open(
                scene.parameters().map { $0.0 == "appName" || $0.0 == "eventId" ? ($0.0, hostile) : $0 }
            )
            let balance = scripts(started)
            #expect(balance[0] == balance[1])
            let frame = try await scene.open(
                [("apiKey", service.apiKey), ("appName", hostile)],
                at: "/__/auth/iframe"
            )
            #expect(scripts(frame) == [2, 2] && frame.data["appName"]?.string == hostile, "\(frame.reply)")
        }
    }

    private func expectInert(_ page: OpenedPage, _ name: String) {
        let text = page.text
        #expect(!text.contains("<script>alert") && !text.contains("<img") && !text.contains("<!--"), "\(name)")
        // One block of data at most, and one script of ours.
        #expect(text.components(separatedBy: "<script").count <= 3, "\(name)")
        #expect(page.reply.response.header("content-security-policy")?.contains("unsafe-inline") == false)
    }

    // MARK: Cookies

    @Test("T-E15: only a page that is opened begins a flow, and a browser keeps eight cookies of flows")
    func cookieBomb() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let path = ProviderScene.handler + "?" + FormFields(pairs: scene.parameters()).text
            for (destination, count) in [("image", 0), ("iframe", 0), ("empty", 0), ("script", 0), ("document", 1)] {
                let headers = [("Sec-Fetch-Dest", destination), ("Sec-Fetch-Site", "cross-site")]
                let page = try OpenedPage(try await scene.service.send("GET", path, headers: headers))
                #expect(page.cookies.count == count, "\(destination): \(page.cookies)")
            }
            let names = (0..<9).map { "identity-flow-000000000000000\($0)" }
            let old = names.map { "\($0)=x" }.joined(separator: "; ")
            let page = try await scene.open(scene.parameters(), cookie: "other=y; \(old)")
            let removed = page.cookies.filter { $0.contains("Max-Age=0;") }.map { String($0.prefix { $0 != "=" }) }
            // Browsers send the oldest first (RFC 6265 §5.4).
            #expect(removed == Array(names.prefix(2)) && page.cookies.count == 3, "\(page.cookies)")
        }
    }

    @Test("T-D9: each flow has a cookie of its own, made anew, out of the reach of scripts and other hosts")
    func cookies() async throws {
        try await ProviderScene.runPages(.oidc) {
            $0.service.ownPages = false
        } _: { scene in
            let first = try await scene.open(scene.parameters())
            let header = try #require(first.cookies.first)
            #expect(first.cookies.count == 1)
            #expect(header.hasPrefix("__Host-identity-flow-"))
            for attribute in ["Path=/", "HttpOnly", "Secure", "SameSite=None", "Max-Age=600"] {
                #expect(header.split(separator: "; ").contains { $0 == attribute }, "\(header)")
            }
            #expect(!header.lowercased().contains("domain"))
            let preset = try await scene.open(scene.parameters(), cookie: first.cookie)
            #expect(preset.cookie != nil && preset.cookie != first.cookie)
            let request = FormFields(URLParts(first.data["url"]?.string ?? "")?.query ?? "")
            #expect(request["redirect_uri"] == "https://id.example.com/__/auth/handler")
            let result = try await scene.open(
                [("error", "access_denied"), ("state", first.data["state"]?.string ?? "")],
                cookie: first.cookie
            )
            #expect(result.event?["error"]?["code"] == "auth/user-cancelled")
            #expect(result.cookies.first?.contains("Max-Age=0") == true, "it is taken back at the end")
        }
    }
}
