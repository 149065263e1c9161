import Outbound
import Testing
import Text

@Suite struct IPAddressTests {
    @Test(
        "T-B17: addresses outside the public internet",
        arguments: [
            "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
            "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe",
            "::127.0.0.1",
            "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::",
            "2002:a9fe:a9fe::1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1", "3fff::1",
        ]
    )
    func isNotOfTheOpenInternet(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.isPublic)
        #expect(!AddressPolicy().allows(address, encrypted: true))
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "192.167.255.255", "100.128.0.1", "2606:4700::1111",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2a00:1450::8a",
    ])
    func isOfTheOpenInternet(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isPublic)
        #expect(AddressPolicy().allows(address, encrypted: true))
        #expect(!AddressPolicy(allowsLoopback: true).allows(address, encrypted: false))
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x7f.0.0.1", "256.1.1.1", "1.2.3.4 ", "1..2.3", "localhost", ":", ":::",
        "1::2::3",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1.2.3", "[::1]", "::1%eth0", "1.2.3.٤", "2130706433",
    ])
    func isNoAddress(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test("T-B17: policies open what they name, and nothing else") func policiesOpenWhatTheyName() throws {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let own = try #require(IPAddress("10.1.2.3"))
        let unique = try #require(IPAddress("fd12::1"))
        let metadata = try ["169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200"].map {
            try #require(IPAddress($0))
        }
        #expect(AddressPolicy(allowsLoopback: true).allows(loopback, encrypted: false))
        #expect(!AddressPolicy(allowsLoopback: true).allows(own, encrypted: true))
        let open = AddressPolicy(allowsPrivateNetworks: true)
        #expect(open.allows(own, encrypted: true) && open.allows(unique, encrypted: true))
        #expect(!open.allows(own, encrypted: false))
        for service in metadata { #expect(!open.allows(service, encrypted: true), "\(service)") }
        #expect(!open.allows(loopback, encrypted: true))
    }

    @Test(arguments: ["1.2.3.4", "2001:db8::1", "::1", "::ffff:1.2.3.4"]) func textComesBack(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(IPAddress(address.text) == address)
    }
}
