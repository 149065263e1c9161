/// The networks whose `X-Forwarded-For` is trusted; empty trusts none.
package struct TrustedProxies: Sendable, Hashable {
    private struct Network: Sendable, Hashable {
        var address: NetworkAddress
        var length: Int

        func contains(_ other: NetworkAddress) -> Bool {
            guard address.bytes.count == other.bytes.count else { return false }
            return (0..<length).allSatisfy { bit in
                (address.bytes[bit / 8] ^ other.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    private let networks: [Network]

    package static let none = TrustedProxies(networks: [])

    private init(networks: [Network]) { self.networks = networks }

    /// Addresses and networks, `10.0.0.0/8`, `fd00::/8`, `127.0.0.1`; nil if one of them is neither.
    package init?(_ texts: [String]) {
        var networks: [Network] = []
        for text in texts {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = NetworkAddress(parts[0]) else { return nil }
            let bits = address.bytes.count * 8
            guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
            networks.append(Network(address: address, length: length))
        }
        self.init(networks: networks)
    }

    /// The caller's address: the peer, or behind our proxies the last address that is not one of them.
    func client(peer: NetworkAddress, forwardedFor header: String?) -> NetworkAddress {
        guard trusts(peer), let header else { return peer }
        var client = peer
        for text in header.split(separator: ",").reversed() {
            let words = text.split { $0 == " " || $0 == "\t" }
            guard words.count == 1, let address = NetworkAddress(words[0]) else { return client }
            client = address
            guard trusts(address) else { return client }
        }
        return client
    }

    func trusts(_ address: NetworkAddress) -> Bool { networks.contains { $0.contains(address) } }
}
