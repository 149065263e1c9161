/// A network of IP addresses: `10.0.0.0/8`, `fd00::/8`; or one address, `127.0.0.1`.
package struct IPNetwork: Sendable, Hashable {
    private let prefix: IPAddress
    /// The number of bits that all its addresses share.
    package let length: Int

    /// Nil for anything else; bits after the prefix are ignored.
    package init?(_ text: Substring) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let prefix = parts.first.flatMap({ IPAddress($0) })?.unmapped else { return nil }
        let bits = prefix.bytes.count * 8
        guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
        self.prefix = prefix
        self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == prefix.bytes.count else { return false }
        return (0..<length).allSatisfy { bit in
            let difference: UInt8 = address.bytes[bit / 8] ^ prefix.bytes[bit / 8]
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            return difference & mask == 0
        }
    }
}
