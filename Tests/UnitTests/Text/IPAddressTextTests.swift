import Testing
import Text

@Suite struct IPAddressTextTests {
    @Test(
        "RFC 5952: one spelling for every address",
        arguments: [
            ("2001:db8::1", "2001:db8::1"), ("2001:0db8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:DB8:0::0:1", "2001:db8::1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:db8:aaaa:bbbb:cccc:dddd:eeee:0AaA", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaa"),
            ("0:0:0:0:0:0:0:0", "::"), ("0:0:0:0:0:0:0:1", "::1"), ("1:0:0:0:0:0:0:0", "1::"),
            ("::ffff:c000:0201", "::ffff:192.0.2.1"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"),
        ]
    )
    func writesTheCanonicalText(_ text: String, _ canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.text == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test("mapped addresses are IPv4") func unmaps() throws {
        #expect(try #require(IPAddress("::ffff:192.0.2.1")).unmapped == IPAddress("192.0.2.1"))
        #expect(try #require(IPAddress("2001:db8::1")).unmapped == IPAddress("2001:db8::1"))
    }

    @Test(
        "RFC 4632 §3.1: a network contains what shares its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"), ("192.0.2.128/25", "192.0.2.200", "192.0.2.127"),
            ("0.0.0.0/0", "8.8.8.8", "::"), ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("fd00::/8", "fdff::1", "fc00::1"), ("2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"),
        ]
    )
    func contains(_ network: String, _ inside: String, _ outside: String) throws {
        let network = try #require(IPNetwork(network[...]))
        #expect(network.contains(try #require(IPAddress(inside))))
        #expect(!network.contains(try #require(IPAddress(outside))))
    }

    @Test(arguments: ["", "x", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "/8", "fd00::/129"])
    func isNoNetwork(_ text: String) { #expect(IPNetwork(text[...]) == nil) }
}
