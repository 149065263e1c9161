import Testing
import Text

@Suite struct URLPartsTests {
    @Test("RFC 3986 §3") func splits() throws {
        let parts = try #require(URLParts("foo://example.com:8042/over/there?name=ferret#nose"))
        #expect(parts.scheme == "foo" && parts.authority == "example.com:8042" && parts.host == "example.com")
        #expect(parts.port == 8042 && parts.path == "/over/there" && parts.query == "name=ferret")
        #expect(parts.fragment == "nose" && parts.origin == "foo://example.com:8042")
        let urn = try #require(URLParts("urn:example:animal:ferret:nose"))
        #expect(urn.scheme == "urn" && urn.authority == nil && urn.host == nil && urn.origin == nil)
        #expect(urn.path == "example:animal:ferret:nose" && urn.query == nil && urn.fragment == nil)
    }

    @Test(
        "RFC 3986 §1.1.2",
        arguments: [
            ("ftp://ftp.is.co.za/rfc/rfc1808.txt", "ftp.is.co.za", "/rfc/rfc1808.txt"),
            ("http://www.ietf.org/rfc/rfc2396.txt", "www.ietf.org", "/rfc/rfc2396.txt"),
            ("ldap://[2001:db8::7]/c=GB?objectClass?one", "[2001:db8::7]", "/c=GB"),
            ("telnet://192.0.2.16:80/", "192.0.2.16", "/"),
            ("mailto:John.Doe@example.com", nil, "John.Doe@example.com"),
            ("news:comp.infosystems.www.servers.unix", nil, "comp.infosystems.www.servers.unix"),
            ("tel:+1-816-555-1212", nil, "+1-816-555-1212"), ("yj-app:///cb", "", "/cb"),
            ("HTTP://User@EXAMPLE.com:80", "example.com", ""),
        ] as [(String, String?, String)]
    )
    func readsExamples(_ text: String, _ host: String?, _ path: String) throws {
        let parts = try #require(URLParts(text))
        #expect(parts.host == host && parts.path == path)
    }

    @Test(
        "what is no absolute URL of visible ASCII is refused",
        arguments: [
            "", "x", "/a", "//a.example/", ":a", "1a:b", "a b:c", "ä:b", "https://a.example/ ", "https://ä.example/",
            "https://a.example/\n", "https://a.example:x/", "https://a.example:65536/", "https://a.example:-1/",
            "https://a.example:+1/", "https://a.example:80:80/", "https://[::1]:x/",
        ]
    )
    func refuses(_ text: String) { #expect(URLParts(text) == nil) }

    @Test(
        "an origin has no port of its scheme",
        arguments: [
            ("https://A.example:443/x", "https://a.example", 443), ("http://a.example", "http://a.example", 80),
            ("http://a.example:443", "http://a.example:443", 443), ("https://[::1]:8443/", "https://[::1]:8443", 8443),
            ("https://a.example:/", "https://a.example", 443),
        ]
    )
    func readsOrigins(_ text: String, _ origin: String, _ port: Int) throws {
        let parts = try #require(URLParts(text))
        #expect(parts.origin == origin && parts.effectivePort == port)
    }

    @Test("an invalid port spoils a web URL alone: the authority of an app's scheme is the app's")
    func readsPorts() {
        for port in ["65536", "+80", "port", "-1"] {
            #expect(URLParts("https://a.example:\(port)/") == nil)
            #expect(URLParts("my-app://auth:\(port)/cb")?.host == "auth:\(port)")
        }
        #expect(URLParts("my-app://auth:80/cb")?.port == 80)
    }

    @Test(
        "T-B6: what browsers and servers may read differently is no web URL",
        arguments: [
            "ftp://a.example/", "https://", "https:///a", "https:a.example", "https://u@a.example/",
            "https://u:p@a.example/", "https://a.example/#", "https://a.example\\@b.example/", "https://a.example/\\b",
            "https://a.example/?\\", "https://%6c/", "https://[zz]/", "https://[127.0.0.1]/", "https://[::1/",
            "https://a]b/", "https://a<b/",
        ]
    )
    func isNoWebURL(_ text: String) { #expect(URLParts(text)?.isWeb != true) }

    @Test(
        "plain http is secure on this machine alone",
        arguments: [
            ("https://a.example/", true, false), ("http://a.example/", false, false), ("http://localhost/", true, true),
            ("http://app.localhost:9099/", true, true), ("http://127.0.0.1/", true, true),
            ("http://[::1]/", true, true),
            ("http://127.0.0.1.example/", false, false), ("http://notlocalhost/", false, false),
            ("http://127.1/", false, false), ("http://10.0.0.1/", false, false),
            ("http://[::ffff:127.0.0.1]/", true, true),
        ]
    )
    func isSecure(_ text: String, _ secure: Bool, _ loopback: Bool) throws {
        let parts = try #require(URLParts(text))
        #expect(parts.isSecure(orLoopback: true) == secure)
        #expect(parts.isSecure(orLoopback: false) == (parts.scheme == "https"))
        #expect(parts.isLoopback == loopback)
    }
}
