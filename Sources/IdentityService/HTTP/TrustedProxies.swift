import Text

/// The networks whose `X-Forwarded-For` is trusted; empty trusts none.
package struct TrustedProxies: Sendable, Hashable {
    private let networks: [IPNetwork]

    package static let none = TrustedProxies(networks: [])

    private init(networks: [IPNetwork]) { self.networks = networks }

    /// Addresses and networks, `10.0.0.0/8`, `fd00::/8`, `127.0.0.1`; nil if one of them is neither.
    package init?(_ texts: [String]) {
        // The zone is a matter of this machine.
        networks = texts.compactMap { IPNetwork($0.prefix { $0 != "%" }) }
        guard networks.count == texts.count else { return nil }
    }

    /// The caller's address: the peer, or behind our proxies the last address that is not one of them.
    func client(peer: IPAddress, forwardedFor header: String?) -> IPAddress {
        guard trusts(peer), let header else { return peer }
        var client = peer
        for text in header.split(separator: ",").reversed() {
            let words = text.split { $0 == " " || $0 == "\t" }
            guard words.count == 1, let address = IPAddress(caller: words[0]) else { return client }
            client = address
            guard trusts(address) else { return client }
        }
        return client
    }

    func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
