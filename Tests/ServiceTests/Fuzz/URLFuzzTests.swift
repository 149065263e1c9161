import Accounts
import Domain
import Federation
import Foundation
import Projects
import StrictJSON
import Testing
import Text

@Suite("Fuzzed: URLs and callbacks")
struct URLFuzzTests {
    private let words = [
        "http://", "https://", "//", "@", "evil.example", "localhost", "127.0.0.1", "[::1]", ":443", ":0", ":99999",
        "\\", "%2f", "%5c", "%00", "%0d%0a", "#", "?", "&", "javascript:", "com.app:/cb", "xn--", "..", "/../",
        "https:/", "https:///", "HTTPS://", "&state=", "&code=", "id_token=", "access_token=", "providerId=google.com",
        "error=access_denied", "+", "=",
    ]

    @Test(
        "T-B6: a continue URL has the host that Foundation sees, keeps it when parameters are added, and reads alike again"
    )
    func continueURIs() async throws {
        try await Fuzzer(name: "continue-uri", words: words, rounds: 6000).run { input in
            guard let text = String(validating: input, as: UTF8.self), let uri = ContinueURI(text) else { return false }
            let other = URLComponents(string: text)
            try hold(other?.encodedHost?.lowercased() == uri.host, "Foundation goes to \(other?.host ?? "nowhere")")
            let separator = text.contains("?") ? "&" : "?"
            let longer = ContinueURI(text + separator + "oobCode=x")
            if text.utf8.count < 2000 {
                try hold(longer?.host == uri.host && longer?.port == uri.port, "goes elsewhere with a parameter")
                try hold(longer?.hasParameter("oobcode") == true, "loses the parameter")
            }
            // A host alone decides where it may go.
            let origin = uri.scheme + "://" + uri.host + (uri.port.map { ":\($0)" } ?? "")
            try hold(ContinueURI(origin)?.host == uri.host, "\(origin) goes elsewhere")
            for domains in [["app.example"], ["localhost"], [uri.host]] {
                var settings = ProjectSettings()
                settings.authorizedDomains = domains
                let isAllowed = uri.isAllowed(by: settings, anyLoopback: false)
                try hold(!isAllowed || domains.contains(uri.host), "is allowed on \(domains)")
                try hold(isAllowed == (ContinueURI(origin)?.isAllowed(by: settings, anyLoopback: false)), "by its path")
            }
            // With URLs of a project's own, what is below one of them leads nowhere else when a browser has read it.
            var settings = ProjectSettings()
            settings.continueURLs = [origin + "/app"]
            if uri.isAllowed(by: settings, anyLoopback: false), let seen = URL(string: text)?.standardized {
                try hold(seen.path == "/app" || seen.path.hasPrefix("/app/"), "leads to \(seen.path)")
            }
            return true
        }
    }

    @Test("a redirect URI keeps scheme, host, port and path when an answer is added to it")
    func redirectURIs() async throws {
        try await Fuzzer(name: "redirect-uri", words: words, rounds: 6000).run { input in
            guard let text = String(validating: input, as: UTF8.self), RedirectURI.isAcceptable(text) else {
                return false
            }
            let parts = try #require(URLParts(text))
            let answered = text.adding([(name: "state", value: "a&b=c#d@e/f"), (name: "code", value: "\u{0}é")])
            let after = URLParts(answered)
            try hold(after?.origin == parts.origin && after?.path == parts.path, "goes to \(answered)")
            try hold(after?.fragment == nil, "has a fragment")
            let values = FormFields.split(after?.query ?? "").filter { $0.name == "state" }
            try hold(values.count == 1, "has the state \(values.count) times")
            try hold(
                PercentEncoding.decodeLeniently(values[0].value, plusIsSpace: true) == "a&b=c#d@e/f",
                "has another state"
            )
            guard parts.scheme == "https" || parts.scheme == "http" else { return true }
            // Where Foundation can read it, it reads the same host.
            if let other = URLComponents(string: text), let host = other.encodedHost {
                try hold(host.lowercased() == parts.host, "Foundation goes to \(host)")
            }
            return true
        }
    }

    @Test("a provider's callback reads alike again, comes to its own address alone, and shows nothing of itself")
    func callbacks() async throws {
        try await Fuzzer(name: "callback", words: words).run { input in
            // A request URI, and after a line break what was posted.
            let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let uri = String(validating: parts[0], as: UTF8.self) else { return false }
            let body = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
            let callback: ProviderCallback
            do throws(FederationError) { callback = try ProviderCallback(requestURI: uri, postBody: body) } catch {
                switch error {
                case .invalidRequestURI: try hold(URLParts(uri) == nil, "an absolute URI is refused")
                case .duplicateParameter: break
                default: throw Broken(description: "\(error)")
                }
                return false
            }
            let address = callback.address
            try hold(URLParts(address)?.host == URLParts(uri)?.host, "\(address) goes elsewhere")
            try hold(URLParts(address)?.query == nil && URLParts(address)?.fragment == nil, "\(address) says more")
            if !address.contains("@") { try hold(callback.came(to: address), "came not to \(address)") }
            for other in ["https://app.example/cb", "http://localhost/", "com.app:/cb"] where callback.came(to: other) {
                try hold(URLParts(other)?.host == URLParts(uri)?.host, "came to \(other)")
            }
            try hold("\(callback)" == "<callback>" && Mirror(reflecting: callback).children.isEmpty, "shows itself")
            let again = try ProviderCallback(requestURI: uri, postBody: body)
            for name in ["code", "state", "id_token", "providerId", "error"] {
                try hold(again[name] == callback[name] && callback[name] != "", "reads \(name) otherwise")
            }
            try hold(callback.provider?.rawValue.isEmpty != true, "has a provider without a name")
            return true
        }
    }
}
