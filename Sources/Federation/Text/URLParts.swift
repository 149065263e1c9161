/// The parts of a URL, each byte unchanged (RFC 3986 appendix B).
package struct URLParts: Sendable, Hashable {
    /// Lower-case.
    package let scheme: String
    /// Nil without `//`: `urn:ietf:…`; empty in `yj-xxxxx:///`.
    let authority: String?
    package let path: String
    package let query: String?
    package let fragment: String?

    /// Nil unless the text is absolute and consists of visible ASCII, as every URL on the wire does.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 65_536, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            return nil
        }
        // It is ASCII, so bytes are characters, and much faster.
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = bytes[..<colon]
        guard let first = scheme.first, Self.isLetter(first),
            scheme.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return nil }
        self.scheme = String(Substring(scheme)).lowercased()
        var rest = bytes[bytes.index(after: colon)...]
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(Substring(rest[..<end]))
            path = String(Substring(rest[end...]))
        } else {
            authority = nil
            path = String(Substring(rest))
        }
    }

    /// The part after the first `mark`, which is removed together with it; nil without one.
    private static func cut(_ text: inout Substring.UTF8View, at mark: UInt8) -> String? {
        guard let index = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<index] }
        return String(Substring(text[text.index(after: index)...]))
    }

    /// The authority without user and port, lowercase.
    package var host: String? {
        guard let authority else { return nil }
        return hostAndPort(authority).host.lowercased()
    }

    var port: Int? { authority.flatMap { Int(hostAndPort($0).port ?? "") } }

    var hasUserInfo: Bool { authority?.contains("@") ?? false }

    /// `scheme://host[:port]`, lowercase; nil without a host.
    package var origin: String? {
        guard let host, !host.isEmpty else { return nil }
        return scheme + "://" + host + (port.map { ":\($0)" } ?? "")
    }

    private func hostAndPort(_ authority: String) -> (host: String, port: String?) {
        let bytes = authority.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let location = bytes[start...]
        let hostEnd = location.lastIndex(of: UInt8(ascii: "]")).map { location.index(after: $0) } ?? location.startIndex
        guard let colon = location[hostEnd...].firstIndex(of: UInt8(ascii: ":")) else {
            return (String(Substring(location)), nil)
        }
        return (String(Substring(location[..<colon])), String(Substring(location[location.index(after: colon)...])))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
