package import Text

extension IPAddress {
    /// Whether the address is on the public internet: addresses that IANA's special-purpose registries (RFC 6890) list
    /// as not globally reachable are not, including cloud metadata addresses (169.254.169.254, fd00:ec2::254).
    ///
    /// IPv4 inside IPv6 counts as the IPv4 address that it reaches.
    package var isPublic: Bool {
        if let reachedIPv4 { return !reachedIPv4.isIn(Self.specialIPv4) }
        return isIn(Self.globalIPv6) && !isIn(Self.specialIPv6)
    }

    /// Whether the address belongs to a private network: RFC 1918, RFC 6598, RFC 4193.
    ///
    /// Link-local addresses and the metadata services do not count.
    package var isPrivateNetwork: Bool {
        (reachedIPv4 ?? self).isIn(Self.privateNetworks) && !(reachedIPv4 ?? self).isIn(Self.metadata)
    }

    private func isIn(_ networks: [IPNetwork]) -> Bool { networks.contains { $0.contains(self) } }

    private static let specialIPv4 = networks(
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4"
    )
    private static let globalIPv6 = networks("2000::/3")
    private static let specialIPv6 = networks("2001::/23", "2001:db8::/32", "3fff::/20")
    private static let privateNetworks = networks(
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "fc00::/7"
    )
    /// The metadata services of AWS, Google Cloud and Alibaba Cloud that are in these networks.
    private static let metadata = networks("fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200/32")

    private static func networks(_ texts: String...) -> [IPNetwork] { texts.compactMap { IPNetwork($0[...]) } }
}
