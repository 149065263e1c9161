/// An IP address: 4 or 16 bytes.
package struct IPAddress: Sendable, Hashable {
    package let bytes: [UInt8]

    /// Four decimal numbers, or any spelling of RFC 4291 §2.2; nil for anything else, such as brackets, zones, and leading
    /// zeros, which some programs read as octal.
    package init?(_ text: Substring) {
        guard let bytes = Self.dottedQuad(text) ?? Self.colonHex(text) else { return nil }
        self.bytes = bytes
    }

    package init?(_ text: String) { self.init(text[...]) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    package var isIPv6: Bool { bytes.count == 16 }

    /// The IPv4 address in an IPv4-mapped one, such as `::ffff:192.0.2.1`; any other address unchanged.
    package var unmapped: IPAddress {
        guard isIPv6, bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff]) else { return self }
        return IPAddress(bytes: Array(bytes[12...]))
    }

    /// The IPv4 address that an address is or reaches: mapped, compatible, NAT64 or 6to4; nil for any other.
    package var reachedIPv4: IPAddress? {
        guard isIPv6 else { return self }
        let zeros = [UInt8](repeating: 0, count: 8)
        if bytes.starts(with: zeros + [0, 0, 0xff, 0xff]) || bytes.starts(with: [0x00, 0x64, 0xff, 0x9b] + zeros)
            || (bytes.starts(with: zeros + [0, 0, 0, 0]) && bytes[12] != 0)
        {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        return bytes.starts(with: [0x20, 0x02]) ? IPAddress(bytes: Array(bytes[2..<6])) : nil
    }

    package var isLoopback: Bool {
        if let reachedIPv4 { return reachedIPv4.bytes[0] == 127 }
        return bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The eight groups of an IPv6 address.
    package var groups: [UInt16] {
        stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }

    /// The canonical spelling (RFC 5952), without brackets.
    package var text: String {
        guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
        if unmapped != self { return "::ffff:" + unmapped.text }
        func hex(_ groups: ArraySlice<UInt16>) -> String { groups.map { String($0, radix: 16) }.joined(separator: ":") }
        // The first of the longest runs of zeros becomes `::`, unless it is a single group (§4.2).
        let groups = groups
        var longest = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 { start = index + 1 }
            if index + 1 - start > max(longest.count, 1) { longest = start..<index + 1 }
        }
        guard !longest.isEmpty else { return hex(groups[...]) }
        return hex(groups[..<longest.lowerBound]) + "::" + hex(groups[longest.upperBound...])
    }

    private static func dottedQuad(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.consists(of: .digits) && (part.utf8.count == 1 || !part.hasPrefix("0")) ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func colonHex(_ text: Substring) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            return groups(text).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let quad = dottedQuad(part) {
                bytes += quad
            } else if part.utf8.count <= 4, part.utf8.allSatisfy({ $0.hexadecimalDigit != nil }),
                let group = UInt16(part, radix: 16)
            {
                bytes += [UInt8(group >> 8), UInt8(group & 255)]
            } else {
                return nil
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
