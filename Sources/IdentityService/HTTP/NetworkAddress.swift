/// An IP address: 4 or 16 bytes.
package struct NetworkAddress: Sendable, Hashable {
    package let bytes: [UInt8]

    /// `203.0.113.7`, `2001:db8::1`, `::ffff:203.0.113.7` (which is the IPv4 address), `fe80::1%eth0`; nil for other
    /// texts.
    package init?(_ text: some StringProtocol) {
        let text = text.prefix { $0 != "%" }
        if let bytes = Self.version4(text) {
            self.bytes = bytes
        } else if let bytes = Self.version6(text) {
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        } else {
            return nil
        }
    }

    /// The network that it belongs to, by which users recognize a device: `203.0.113.0/24`, `2001:db8:0:0::/64`.
    package var prefix: String {
        guard bytes.count == 16 else { return bytes.prefix(3).map(String.init).joined(separator: ".") + ".0/24" }
        return groups(4) + "::/64"
    }

    /// The complete address: `203.0.113.7`, `2001:db8:0:0:0:0:0:1`.
    package var text: String { bytes.count == 16 ? groups(8) : bytes.map(String.init).joined(separator: ".") }

    private func groups(_ count: Int) -> String {
        stride(from: 0, to: count * 2, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }

    /// The smallest unit that a network assigns to a customer: an IPv4 address, a /64 of IPv6.
    package var subscriber: String { bytes.count == 16 ? prefix : text }

    private static func version4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.count <= 3 && $0.allSatisfy(\.isNumber) ? UInt8($0) : nil }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func version6(_ text: some StringProtocol) -> [UInt8]? {
        let halves = String(text).components(around: "::")
        guard let head = groups(halves.0) else { return nil }
        guard let after = halves.1 else { return head.count == 16 ? head : nil }
        guard let tail = groups(after), head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let version4 = version4(part) {
                bytes += version4
            } else if (1...4).contains(part.utf8.count), let group = UInt16(part, radix: 16), part.first != "+" {
                bytes += [UInt8(group >> 8), UInt8(group & 255)]
            } else {
                return nil
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }
}

extension String {
    /// The parts before and after the first `separator`; the second is nil if it does not occur.
    fileprivate func components(around separator: String) -> (Substring, Substring?) {
        guard let range = firstRange(of: separator) else { return (self[...], nil) }
        return (self[..<range.lowerBound], self[range.upperBound...])
    }
}
