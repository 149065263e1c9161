import Projects
import Testing

@Suite struct AuthorizedDomainTests {
    @Test(
        "a host stands for itself and its subdomains, by labels; addresses, localhost and public suffixes for themselves alone",
        arguments: [
            ("preview.example.com", "preview.example.com", true),
            ("preview.example.com", "b1.preview.example.com", true),
            ("preview.example.com", "a.b1.preview.example.com", true), ("preview.example.com", "example.com", false),
            ("preview.example.com", "notpreview.example.com", false),
            ("preview.example.com", ".preview.example.com", false),
            ("preview.example.com", "preview.example.com.evil.example", false),
            ("Example.COM", "app.example.com", true),
            ("preview.example.com", "preview.example.com.", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "1.127.0.0.1", false), ("0.1", "127.0.0.1", false), ("[::1]", "[::1]", true),
            ("[::1]", "x.[::1]", false), ("localhost", "localhost", true), ("localhost", "evil.localhost", false),
            ("intranet", "app.intranet", true), ("com", "com", true), ("com", "example.com", false),
            ("vercel.app", "vercel.app", true), ("vercel.app", "evil.vercel.app", false),
            ("mine.vercel.app", "b1.mine.vercel.app", true), ("github.io", "evil.github.io", false),
            ("co.uk", "evil.co.uk", false), ("evil.ck", "evil.ck", true), ("evil.ck", "x.evil.ck", false),
            ("xn--p1ai", "evil.xn--p1ai", false), ("xn--bcher-kva.example", "a.xn--bcher-kva.example", true),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop", "abcdefghijklmnopabcdefghijklmnop", false),
            ("", "example.com", false),
        ]
    )
    func includes(_ domain: String, _ host: String, _ isIncluded: Bool) {
        #expect(AuthorizedDomain(domain).includes(host: host) == isIncluded)
    }

    @Test(
        "the frame's policy has the same hosts, with any port",
        arguments: [
            ("preview.example.com", ["https://preview.example.com:*", "https://*.preview.example.com:*"]),
            ("localhost", ["https://localhost:*", "http://localhost:*"]),
            ("127.0.0.1", ["https://127.0.0.1:*", "http://127.0.0.1:*"]), ("192.0.2.1", ["https://192.0.2.1:*"]),
            ("[::1]", []), ("", []), ("vercel.app", ["https://vercel.app:*"]), ("a;b", []), ("*", []),
            (
                "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
                ["chrome-extension://abcdefghijklmnopabcdefghijklmnop"]
            ),
        ]
    )
    func policy(_ domain: String, _ sources: [String]) {
        #expect(AuthorizedDomain(domain).policySources == sources)
    }

    @Test("the policy names no host that another entry includes")
    func covered() {
        let domains = [
            "a.example.com", "example.com", "b.a.example.com", "localhost", "mine.vercel.app", "vercel.app",
            "127.0.0.1",
        ]
        #expect(
            AuthorizedDomain.withoutCovered(domains).map(\.text)
                == ["example.com", "localhost", "mine.vercel.app", "vercel.app", "127.0.0.1"]
        )
    }

    @Test(
        "an extension's pages are of its origin alone",
        arguments: [
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop/popup.html?a=b", true),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop", true),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnoa/popup.html", false),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop@evil/", false),
            ("moz-extension://abcdefghijklmnopabcdefghijklmnop/popup.html", false),
            ("https://abcdefghijklmnopabcdefghijklmnop/", false),
        ]
    )
    func extensions(_ page: String, _ isAuthorized: Bool) {
        var settings = ProjectSettings()
        settings.authorizedDomains = ["localhost", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"]
        #expect(settings.authorizesExtension(of: page) == isAuthorized)
    }

    @Test(
        "what is no domain is refused, each with its reason",
        arguments: [
            ("*", "without *"), ("*.com", "without *"), ("*.example.com", "without *"),
            ("app.example.com.", "final dot"),
            ("bücher.example", "xn--"), ("", "host names"), ("app..example.com", "host names"),
            ("app.example.com:8080", "port"), ("app.example.com/x", "path"),
            ("https://app.example.com", "without scheme"),
            ("-a.example", "host names"), ("a_b.example", "host names"), ("[::1", "IPv6"),
            ("[example]", "IPv6"), ("[2001:db8::1]", "IPv6"), ("0x7f.1", "host names"),
            ("1.2.3", "host names"), ("example.0x1", "host names"), ("[0:0:0:0:0:0:0:1]", "IPv6"),
            ("chrome-extension://abc", "32 letters"), ("chrome-extension://*", "32 letters"),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop/", "32 letters"),
            ("moz-extension://3a2b", "Chrome extensions alone"), ("capacitor://localhost", "Chrome extensions alone"),
            ("ionic://localhost", "Chrome extensions alone"), ("tauri://localhost", "Chrome extensions alone"),
            (String(repeating: "a.", count: 127) + "example", "host names"),
        ]
    )
    func faults(_ text: String, _ reason: String) {
        #expect(
            AuthorizedDomain.fault(in: text)?.contains(reason) == true,
            "\(AuthorizedDomain.fault(in: text) ?? "none")"
        )
    }

    @Test(
        "what is one is taken",
        arguments: [
            "localhost", "127.0.0.1", "[::1]", "com", "Example.com", "xn--bcher-kva.example", "intranet",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        ]
    )
    func taken(_ text: String) { #expect(AuthorizedDomain.fault(in: text) == nil) }
}
