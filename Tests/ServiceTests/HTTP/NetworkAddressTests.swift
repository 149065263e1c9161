import HTTPTypes
import IdentityService
import TestKit
import Testing
import Text

@Suite("Addresses of callers")
struct NetworkAddressTests {
    @Test(
        "knows the network of an address",
        arguments: [
            ("203.0.113.7", "203.0.113.0/24"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8::1", "2001:db8:0:0::/64"), ("::1", "0:0:0:0::/64"), ("::", "0:0:0:0::/64"),
            ("::ffff:203.0.113.7", "203.0.113.0/24"), ("fe80::1%eth0", "fe80:0:0:0::/64"),
            ("64:ff9b::203.0.113.7", "64:ff9b:0:0::/64"),
            // Azure Application Gateway adds the port.
            ("203.0.113.7:51008", "203.0.113.0/24"), ("[2001:db8::7]:51008", "2001:db8:0:0::/64"),
            ("[2001:db8::7]", "2001:db8:0:0::/64"), ("[::ffff:203.0.113.7]:1", "203.0.113.0/24"),
        ]
    )
    func knowsNetworks(_ text: String, _ prefix: String) throws {
        #expect(try #require(IPAddress(caller: text)).prefix == prefix)
    }

    @Test(
        "refuses other texts",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.-4", "1.2.3.4 ", "a", ":", ":::", "1::2::3", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "12345::", "g::1", "+1::", "١.٢.٣.٤", "1:2:3:4:5:6:7::8", "unknown", "[::1", "::1]",
            "[::1]1", "[::1]:",
            "[::1]:x", "[::1]:65536", "[203.0.113.7]:1", "[203.0.113.7]", "203.0.113.7:", "203.0.113.7:x",
            "203.0.113.7:65536", "203.0.113.7:-1", "203.0.113.7:+80", "203.0.113.7:1:2", "[]:1", "[::1]:1 ",
        ]
    )
    func refusesOthers(_ text: String) {
        #expect(IPAddress(caller: text) == nil)
    }

    @Test("reads networks of proxies, or none of them")
    func readsProxies() {
        #expect(TrustedProxies(["10.0.0.0/8", "127.0.0.1", "fd00::/8", "fe80::1%eth0"]) != nil)
        for text in ["10.0.0.0/33", "10.0.0.0/-1", "x", "10.0.0.0/8/8", "10.0.0.0/"] {
            #expect(TrustedProxies([text]) == nil, "\(text)")
        }
    }

    /// What a handler sees of a caller.
    private func device(
        peer: String?,
        headers: HTTPFields,
        proxies: [String] = []
    ) async throws -> Call.Device {
        let box = DeviceBox()
        let route = Route(
            .get,
            "/device",
            on: .service,
            errors: .status,
            .open { call in
                await box.set(call.device)
                return Response(status: .noContent)
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.proxies = try #require(TrustedProxies(proxies))
        let fixture = try ServiceFixture(additionalRoutes: [route], limits: limits, peerAddress: peer)
        _ = try await fixture.client.call(.get, "/device", headers: headers)
        return await box.device
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For") ?? .referer

    @Test(
        "believes X-Forwarded-For from its own proxies alone",
        arguments: [
            ("203.0.113.7", "1.1.1.1", [], "203.0.113.0/24"),
            ("10.0.0.1", "198.51.100.9", ["10.0.0.0/8"], "198.51.100.0/24"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.9, 10.2.3.4", ["10.0.0.0/8"], "198.51.100.0/24"),
            ("10.0.0.1", "1.1.1.1, garbage", ["10.0.0.0/8"], "10.0.0.0/24"),
            ("10.0.0.1", "", ["10.0.0.0/8"], "10.0.0.0/24"),
            ("10.0.0.1", "10.9.9.9", ["10.0.0.0/8"], "10.9.9.0/24"),
            ("11.0.0.1", "1.1.1.1", ["10.0.0.0/8"], "11.0.0.0/24"),
        ]
    )
    func believesProxies(_ peer: String, _ header: String, _ proxies: [String], _ prefix: String) async throws {
        let device = try await device(peer: peer, headers: [Self.forwardedFor: header], proxies: proxies)
        #expect(device.addressPrefix == prefix)
    }

    @Test("keeps 256 characters of the user agent, without control characters")
    func keepsUserAgent() async throws {
        let agent = "A\u{85}" + String(repeating: "b", count: 400)
        let device = try await device(peer: nil, headers: [.userAgent: agent])
        #expect(device.userAgent == "A " + String(repeating: "b", count: 254))
        #expect(device.addressPrefix == nil)
    }
}

private actor DeviceBox {
    private(set) var device = Call.Device()
    func set(_ device: Call.Device) { self.device = device }
}
