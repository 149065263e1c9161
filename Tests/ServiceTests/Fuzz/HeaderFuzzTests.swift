import HTTPTypes
import IdentityService
import NIOCore
import Synchronization
import TestKit
import Testing

@Suite("Fuzzed: headers")
struct HeaderFuzzTests {
    private let words = [
        "Bearer ", "bearer", "BEARER  ", "Basic ", "Digest ", ",", ", Bearer x", "owner", "null", "=", "\t", "\"",
        ServiceFixture.adminToken, "idk_reader", "idk_expired", "idk_disabled", "eyJhbGciOiJub25lIn0.e30.", "%00",
    ]

    @Test("T-E10: any header that is not a valid Bearer token is refused")
    func authorization() async throws {
        let fixture = try ServiceFixture()
        try await Fuzzer(name: "authorization", words: words, maximumLength: 9000).run { input in
            let field = HTTPField(name: .authorization, value: String(decoding: input, as: UTF8.self))
            var headers = HTTPFields()
            headers.append(field)
            let answer = try await fixture.client.call(.get, "/v2/projects/demo-project/config", headers: headers)
            // As RFC 6750 writes it, and nothing else.
            let token = field.value.wholeMatch(of: #/(?i:bearer) +([A-Za-z0-9\-._~+\/=]+)/#).map { String($0.1) }
            let expected =
                switch token ?? "" {
                case ServiceFixture.adminToken where field.value.utf8.count <= 8192: 200
                case "idk_reader" where field.value.utf8.count <= 8192: 403
                default: 401
                }
            try hold(answer.status == expected, "\(answer.status) instead of \(expected)")
            try hold(answer.headers[.accessControlAllowOrigin] == "*", "without CORS")
            return expected != 401
        }
    }

    /// What a handler sees of a caller.
    private struct Seen: Sendable {
        var address: String?
        var language: String?
        var userAgent: String?
    }

    private final class Box: Sendable {
        let seen = Mutex(Seen())
    }

    private func fixture(_ box: Box, proxies: [String] = []) throws -> ServiceFixture {
        let route = Route(
            .get,
            "/seen",
            on: .service,
            errors: .status,
            .open { call in
                box.seen.withLock {
                    $0 = Seen(
                        address: call.device.addressPrefix,
                        language: call.language,
                        userAgent: call.device.userAgent
                    )
                }
                return Response(status: .noContent)
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.proxies = try #require(TrustedProxies(proxies))
        return try ServiceFixture(additionalRoutes: [route], limits: limits)
    }

    @Test("T-E8: what a caller writes into X-Forwarded-For is believed of trusted proxies alone, from the right")
    func forwardedFor() async throws {
        let box = Box()
        let behindProxy = try fixture(box, proxies: ["203.0.113.7", "10.0.0.0/8", "fd00::/8"])
        let alone = try fixture(box)
        let words = [
            ",", ", ", " ", "10.1.2.3", "198.51.100.9", "2001:db8::1", "::ffff:10.0.0.1", "fd00::1", "unknown", "[::1]",
            ":443", "%eth0", "203.0.113.7", "0", "::",
        ]
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        func seen(_ value: String, by fixture: ServiceFixture) async throws -> String? {
            var headers = HTTPFields()
            headers[name] = value
            _ = try await fixture.client.call(.get, "/seen", headers: headers)
            return box.seen.withLock { $0.address }
        }
        try await Fuzzer(name: "forwarded-for", words: words).run { input in
            let value = String(decoding: input, as: UTF8.self)
            try hold(try await seen(value, by: alone) == "203.0.113.0/24", "is believed without a proxy")
            let address = try await seen(value, by: behindProxy)
            // An address outside is the caller: what it wrote itself, to the left, changes nothing.
            let isOutside = address.map {
                !["203.0.113.0/24", "10."].contains(where: $0.hasPrefix) && !$0.hasPrefix("fd")
            }
            guard isOutside == true else { return false }
            let spoofed = try await seen("192.0.2.1, " + value, by: behindProxy)
            try hold(spoofed == address, "is \(spoofed ?? "nobody") to those who lie, and else \(address ?? "nobody")")
            return true
        }
    }

    @Test("a language is a tag of few characters, a device's name a short line, and both may be anything")
    func languages() async throws {
        let box = Box()
        let fixture = try fixture(box)
        let words = ["de", "-DE", "pt-BR", "zh-Hans", "_", ",", ";q=0.5", "*", "../", "\r\n", "é", "\u{202e}"]
        let locale = try #require(HTTPField.Name("X-Firebase-Locale"))
        try await Fuzzer(name: "language", words: words, maximumLength: 600).run { input in
            let value = String(decoding: input, as: UTF8.self)
            var headers = HTTPFields()
            headers[locale] = value
            headers[.acceptLanguage] = value
            headers[.userAgent] = value
            headers[.cookie] = value
            let answer = try await fixture.client.call(.get, "/seen", headers: headers)
            try hold(answer.status == 204, "\(answer)")
            let seen = box.seen.withLock { $0 }
            if let agent = seen.userAgent {
                try hold(agent.count <= 256 && !agent.utf8.contains { $0 < 0x20 }, "the device is \(agent)")
            }
            guard let language = seen.language else { return false }
            try hold(language.wholeMatch(of: #/[A-Za-z0-9\-]{2,35}/#) != nil, "the language is \(language)")
            return true
        }
    }

    @Test("a preflight repeats names of headers and nothing else")
    func preflight() async throws {
        let fixture = try ServiceFixture()
        let words = [
            "content-type", "x-client-version", ", ", ",", "\r\n", ":", "*", "é", "\0", "_", "x-firebase-gmpid",
        ]
        try await Fuzzer(name: "preflight", words: words, maximumLength: 3000).run { input in
            var headers = HTTPFields()
            headers[.accessControlRequestHeaders] = String(decoding: input, as: UTF8.self)
            let answer = try await fixture.client.call(.options, "/v1/accounts:lookup", headers: headers)
            try hold(answer.status == 204 && answer.body.isEmpty, "\(answer)")
            guard let allowed = answer.headers[.accessControlAllowHeaders] else { return false }
            try hold(allowed.wholeMatch(of: #/[A-Za-z0-9\-_, ]*/#) != nil, "\(allowed) is allowed")
            return true
        }
    }
}
