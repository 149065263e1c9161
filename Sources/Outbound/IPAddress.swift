/// An address of a host, in the form in which it is checked.
package enum IPAddress: Sendable, Hashable {
    /// Four bytes.
    case v4([UInt8])
    /// Sixteen bytes.
    case v6([UInt8])

    /// Reads `192.0.2.1` (four decimal numbers, nothing else) or any spelling of RFC 4291 §2.2, without brackets.
    package init?(_ text: String) {
        if let bytes = Self.dottedQuad(text[...]) {
            self = .v4(bytes)
        } else if let bytes = Self.colonHex(text) {
            self = .v6(bytes)
        } else {
            return nil
        }
    }

    package var isLoopback: Bool {
        switch canonical {
        case .v4(let bytes): bytes[0] == 127
        case .v6(let bytes): bytes == [UInt8](repeating: 0, count: 15) + [1]
        }
    }

    /// Whether the address is on the public internet: addresses that IANA's special-purpose registries (RFC 6890) list
    /// as not globally reachable are not, including cloud metadata addresses (169.254.169.254, fd00:ec2::254).
    package var isPublic: Bool {
        switch canonical {
        case .v4(let bytes):
            !Self.specialV4.contains { prefix, length in Self.matches(bytes, prefix, length) }
        case .v6(let bytes):
            Self.matches(bytes, [0x20], 3)
                && !Self.specialV6.contains { prefix, length in Self.matches(bytes, prefix, length) }
        }
    }

    /// Whether the address belongs to a private network: RFC 1918, RFC 6598, RFC 4193.
    ///
    /// Link-local addresses and the metadata services do not count.
    package var isPrivateNetwork: Bool {
        switch canonical {
        case .v4(let bytes):
            Self.matches(bytes, [10], 8) || Self.matches(bytes, [172, 16], 12) || Self.matches(bytes, [192, 168], 16)
                || Self.matches(bytes, [100, 64], 10)
        case .v6(let bytes):
            Self.matches(bytes, [0xfc], 7) && !Self.matches(bytes, [0xfd, 0x00, 0x0e, 0xc2], 32)
        }
    }

    /// The address as in URLs, without brackets.
    package var text: String {
        switch self {
        case .v4(let bytes): bytes.map { String($0) }.joined(separator: ".")
        case .v6(let bytes):
            stride(from: 0, to: 16, by: 2).map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        }
    }

    /// IPv4 inside IPv6 (mapped, compatible, NAT64, 6to4) is checked as the IPv4 address that it reaches.
    private var canonical: IPAddress {
        guard case .v6(let bytes) = self else { return self }
        let zeros = [UInt8](repeating: 0, count: 10)
        if bytes.starts(with: zeros + [0xff, 0xff]) { return .v4(Array(bytes[12...])) }
        if bytes.starts(with: zeros + [0, 0]), bytes[12] != 0 { return .v4(Array(bytes[12...])) }
        if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b] + [UInt8](repeating: 0, count: 8)) {
            return .v4(Array(bytes[12...]))
        }
        if bytes.starts(with: [0x20, 0x02]) { return .v4(Array(bytes[2..<6])) }
        return self
    }

    private static let specialV4: [([UInt8], Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]
    private static let specialV6: [([UInt8], Int)] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x3f, 0xff], 20),
    ]

    private static func matches(_ bytes: [UInt8], _ prefix: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let expected = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            if (bytes[bit / 8] ^ expected) & mask != 0 { return false }
        }
        return true
    }

    private static func dottedQuad(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
                part.utf8.count == 1 || !part.hasPrefix("0"), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func colonHex(_ text: String) -> [UInt8]? {
        let halves = text.components(separatedBy: "::")
        guard halves.count <= 2, !text.contains(":::") else { return nil }
        guard let head = groups(halves[0]) else { return nil }
        guard halves.count == 2 else { return head.count == 16 ? head : nil }
        guard let tail = groups(halves[1]), head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: String) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains("."), let quad = dottedQuad(part) {
                bytes += quad
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexDigit),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 255)]
        }
        return bytes.count <= 16 ? bytes : nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
