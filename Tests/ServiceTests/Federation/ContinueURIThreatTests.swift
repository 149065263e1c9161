import Accounts
import Development
import Domain
import Foundation
import Projects
import Testing
import TestKit
import Text

@Suite("Where browsers are sent", .database, .testProvider)
struct ContinueURIThreatTests {
    private static let domains = ["app.example.com", "localhost", "xn--bcher-kva.example"]

    private func run(_ body: @Sendable (ProviderScene) async throws -> Void) async throws {
        var options = ProviderScene.Options()
        options.service.settings.authorizedDomains = Self.domains
        try await ProviderScene.run(.oidc, options, body)
    }

    private func start(_ uri: String, _ scene: ProviderScene) async throws -> Reply {
        let reply = try await scene.service.call(
            "accounts:createAuthUri",
            ["providerId": "oidc.acme", "continueUri": .string(uri)]
        )
        scene.secrets.add(from: reply)
        return reply
    }

    @Test("T-B6: URIs that only seem to lead to an authorized domain are refused, each of them")
    func corpus() async throws {
        #expect(Set(Self.malicious).count >= 60)
        try await run { scene in
            for uri in Self.malicious {
                let reply = try await scene.refuses(nil) { try await start(uri, scene) }
                #expect(reply.error == "INVALID_CONTINUE_URI : Invalid OAuth request for oidc.acme", "\(uri)")
                #expect(reply["authUri"] == nil)
                #expect(!reply.response.text.contains("evil"), "nothing of it is repeated")
            }
            #expect(scene.tenant.requests().isEmpty)
        }
    }

    @Test("T-B6: with URLs of its own a project is returned to these and below, and nowhere else of its domains")
    func registered() async throws {
        var options = ProviderScene.Options()
        options.service.settings.authorizedDomains = Self.domains
        options.service.settings.continueURLs = [
            "https://app.example.com/auth", "https://app.example.com:8443", "http://localhost:3000/cb/",
            "https://App.example.com/exact/",
        ]
        try await ProviderScene.run(.oidc, options) { scene in
            for good in [
                "https://app.example.com/auth", "https://app.example.com/auth/", "https://app.example.com/auth/done",
                "https://app.example.com/auth?a=b", "https://APP.example.com:443/auth/%61",
                "https://app.example.com:8443",
                "https://app.example.com:8443/anything?x", "http://localhost:3000/cb/", "http://localhost:3000/cb/x",
                "https://app.example.com/exact/",
            ] {
                let reply = try await start(good, scene)
                #expect(reply.status == 200, "\(good): \(reply)")
            }
            for bad in [
                "https://app.example.com", "https://app.example.com/", "https://app.example.com/authors",
                "https://app.example.com/Auth", "https://app.example.com:444/auth", "http://app.example.com/auth",
                "https://app.example.com/auth/../open", "https://app.example.com/auth/%2e%2e/open",
                "https://app.example.com/auth/..;/open", "https://app.example.com/auth/%2E./open",
                "https://app.example.com/auth/.%2e;x/open", "https://app.example.com/auth%2f..%2fopen",
                "https://app.example.com/auth/..%5copen", "https://app.example.com/auth/%252e%252e/open",
                "https://app.example.com/auth/./x", "https://app.example.com//auth", "https://app.example.com/exact",
                "https://xn--bcher-kva.example/auth", "http://localhost:3000/", "http://localhost/cb/",
                "http://localhost:3000/cb", "https://localhost:3000/cb/", "https://evil.example/auth",
            ] {
                let reply = try await scene.refuses(nil) { try await start(bad, scene) }
                #expect(reply.error == "INVALID_CONTINUE_URI : Invalid OAuth request for oidc.acme", "\(bad)")
            }
            let mail = try await scene.service.admin(
                "accounts:sendOobCode",
                [
                    "requestType": "PASSWORD_RESET", "email": .string(scene.ada.email ?? ""), "returnOobLink": true,
                    "continueUrl": "https://app.example.com/open?to=evil",
                ]
            )
            #expect(mail.code == "UNAUTHORIZED_DOMAIN", "\(mail)")
        }
    }

    @Test(
        "T-B6: what can be no such URL is no setting",
        arguments: [
            "app.example.com", "https://app.example.com/?a=b", "https://app.example.com/#x", "http://app.example.com/",
            "https://app.example.com/../x", "https://app.example.com/%2e%2e/x", "https://u@app.example.com/", "*", "",
            "https://*.example.com/", "myapp://callback",
        ]
    )
    func unregistrable(_ url: String) async throws {
        try await TestService.run { service in
            let reply = try await service.admin(
                "config?updateMask=identity.continueURLs",
                ["identity": ["continueURLs": [.string(url)]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(reply.status == 400 && reply.code == "INVALID_CONFIG", "\(reply)")
        }
    }

    @Test("T-B6: browsers send accepted URIs to an authorized domain")
    func differential() throws {
        var random = Noise(state: 20_261_121)
        let pieces = [
            "@", ":", "/", "//", "\\", "?", "#", ".", "..", "%2e", "%2f", "%40", "%5c", "%00", "\t", "\n", " ",
            "evil.example",
            "localhost", "app.example.com", "[", "]", "::1", ";", ",", "&", "=", "state=", "http:", "https:",
            "javascript:",
            "8080", "-", "_", "*", "\u{3002}", "\u{ff0f}", "\u{ad}", "xn--", "0", "A",
        ]
        var settings = ProjectSettings()
        settings.authorizedDomains = Self.domains
        var accepted = 0
        for round in 0..<20_000 {
            var text = Array((Self.honest + Self.malicious)[round % (Self.honest.count + Self.malicious.count)])
            guard text.count < 200 else { continue }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let at = Int.random(in: 0...text.count, using: &random)
                let end = min(text.count, at + Int.random(in: 0...2, using: &random))
                text.replaceSubrange(at..<end, with: Array(pieces.randomElement(using: &random) ?? ""))
            }
            let uri = String(text)
            guard let parsed = ContinueURI(uri), parsed.isAllowed(by: settings, anyLoopback: false) else {
                continue
            }
            accepted += 1
            let seen = try #require(BrowserURL(uri), "\(uri)")
            #expect(Self.domains.contains { seen.host == $0 || seen.host.hasSuffix("." + $0) }, "\(uri)")
            #expect(seen.scheme == "https" || (seen.scheme == "http" && seen.host == "localhost"), "\(uri)")
            #expect(seen.host == parsed.host, "\(uri)")
        }
        #expect(accepted > 500, "the comparison must have something to compare")
    }

    /// Reads a URL as browsers do (WHATWG URL Standard, special schemes): forgivingly.
    private struct BrowserURL {
        var scheme: String
        var host: String

        init?(_ text: String) {
            let trimmed = text.drop { ($0.asciiValue ?? 33) <= 32 }
            var rest = trimmed.filter { !"\t\n\r".contains($0) }[...]
            guard let colon = rest.firstIndex(of: ":") else { return nil }
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.index(after: colon)...].drop { "/\\".contains($0) }
            let authority = rest.prefix { !"/\\?#".contains($0) }
            let location = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
            let name = location.hasPrefix("[") ? location.prefix { $0 != "]" } + "]" : location.prefix { $0 != ":" }
            host = (String(name).removingPercentEncoding ?? String(name)).precomposedStringWithCompatibilityMapping
                .lowercased()
        }
    }

    private struct Noise: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 31)
        }
    }

    @Test("honest URIs of authorized domains are accepted, as they are")
    func honest() async throws {
        try await run { scene in
            for uri in Self.honest {
                let reply = try await start(uri, scene)
                #expect(reply.status == 200, "\(uri): \(reply)")
                let request = FormFields(URLParts(reply["authUri"]?.string ?? "")?.query ?? "")
                #expect(request["redirect_uri"] == uri)
            }
        }
    }

    private static let honest = [
        "https://app.example.com", "https://app.example.com/", "https://app.example.com/__/auth/handler",
        "https://APP.example.com/x", "https://app.example.com:8443/a?b=c&d=%2F", "http://localhost/callback",
        "http://localhost:3000/", "https://xn--bcher-kva.example/", "https://app.example.com/a;b/c,d?e=f@g:h",
        "https://sub.app.example.com/", "https://b1.preview.APP.example.com:8443/x",
    ]

    static let malicious = [
        // Another host that starts, ends or looks like ours
        "https://app.example.com.evil.example/", "https://evil.example/app.example.com", "https://evil.example",
        "https://app.example.comevil.example/", "https://xapp.example.com/", "https://sub.localhost/",
        "https://example.com/", "https://appxexample.com/", "https://app-example.com/", "https://app.example.co/",
        "https://app.example.com./", "https://.app.example.com/", "https://app..example.com/",
        "https://app.example.com,evil.example/", "https://app.example.com;evil.example/",
        "https://evil.example?app.example.com", "https://evil.example#app.example.com", "https://*.example.com/",
        // User info
        "https://app.example.com@evil.example/", "https://app.example.com:443@evil.example/",
        "https://user:pass@app.example.com/", "https://@app.example.com/", "https://evil.example%40app.example.com/",
        "https://app.example.com%40evil.example/", "https://evil.example@app.example.com@evil.example/",
        // Backslash, white space, control characters
        #"https://evil.example\@app.example.com/"#, #"https://app.example.com\@evil.example/"#,
        #"https://app.example.com\.evil.example/"#, #"https:\\evil.example/"#, #"https:/\evil.example/"#,
        #"https://evil.example\app.example.com"#, " https://app.example.com/", "https://app.example.com/ ",
        "https://app.example.com /", "https://app.example.com\t.evil.example/", "https://app.example.com\n/",
        "https://app.example.com/\r\nLocation:https://evil.example", "https://app.example.com/\u{1}",
        "\u{feff}https://app.example.com/",
        "java\tscript:alert(1)",
        // Encoded
        "https://app.example.com%2eevil.example/", "https://evil.example%2f@app.example.com/",
        "https://app.example.com%00.evil.example/", "https://app%2eexample%2ecom/", "https://%61pp.example.com/",
        "https://evil.example%252f.app.example.com/", "https%3A%2F%2Fapp.example.com/",
        "https://app.example.com%5c.evil.example/",
        // Unicode that folds, or looks the same
        "https://\u{ff41}pp.example.com/", "https://app\u{3002}example.com/", "https://app.ex\u{430}mple.com/",
        "https://app.example.com\u{2044}evil.example/", "https://evil.example\u{ff20}app.example.com/",
        "https://b\u{fc}cher.example/", "https://app.example.com\u{ad}/", "https://loc\u{430}lhost/",
        "http://local\u{17f}ost/",
        // Other schemes, no scheme, no host
        "javascript:alert(1)", "javascript://app.example.com/%0aalert(1)", "JaVaScRiPt:alert(document.domain)",
        "data:text/html,<script>alert(1)</script>", "vbscript:msgbox(1)", "file:///etc/passwd",
        "ftp://app.example.com/",
        "blob:https://app.example.com/x", "about:blank", "//app.example.com/", "/callback", "app.example.com",
        "https:app.example.com",
        "https:/app.example.com/", "https:///app.example.com/", "https://", "https:", "://app.example.com/",
        "view-source:https://app.example.com/",
        "http+unix://app.example.com/", "intent://app.example.com/#Intent;scheme=https;end",
        // Plain http, ports, addresses, loopback in disguise
        "http://app.example.com/", "https://app.example.com:0/", "https://app.example.com:65536/",
        "https://app.example.com:/", "https://app.example.com:443x/", "https://app.example.com:-1/",
        "https://app.example.com:443:443/", "https://app.example.com:0443/", "https://app.example.com:%34%34%33/",
        "http://127.0.0.1/", "http://[::1]/", "http://0.0.0.0/", "http://127.1/", "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost.evil.example/", "http://localhost@evil.example/", "http://localhost:80@evil.example/",
        "http://[::ffff:127.0.0.1]/", "http://localhost./", "http://[localhost]/", "http://169.254.169.254/latest/",
        // Fragment, and parameters that are ours
        "https://app.example.com/#", "https://app.example.com/#x", "https://app.example.com/?state=x",
        "https://app.example.com/?a=b&STATE=x", "https://app.example.com/?%73tate=x",
        "https://app.example.com/" + String(repeating: "a", count: 2048),
    ]
}
