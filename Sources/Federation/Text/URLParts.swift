/// A URL cut into its parts without changing a byte of any (RFC 3986 appendix B).
struct URLParts: Sendable, Hashable {
    /// Lower-case.
    let scheme: String
    /// Nil without `//`: `urn:ietf:…`; empty in `yj-xxxxx:///`.
    let authority: String?
    let path: String
    let query: String?
    let fragment: String?

    /// Nil unless the text is absolute and made of visible ASCII, as every URL on the wire is.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 65_536, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            return nil
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard let first = scheme.utf8.first, Self.isLetter(first),
            scheme.utf8.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return nil }
        self.scheme = scheme.lowercased()
        var rest = text[text.index(after: colon)...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        } else {
            fragment = nil
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        } else {
            query = nil
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            path = String(rest[end...])
        } else {
            authority = nil
            path = String(rest)
        }
    }

    /// The authority without user and port, lower-case.
    var host: String? {
        guard let authority else { return nil }
        return hostAndPort(authority).host.lowercased()
    }

    var port: Int? { authority.flatMap { Int(hostAndPort($0).port ?? "") } }

    var hasUserInfo: Bool { authority?.contains("@") ?? false }

    /// `scheme://host[:port]`, lower-case; nil without a host.
    var origin: String? {
        guard let host, !host.isEmpty else { return nil }
        return scheme + "://" + host + (port.map { ":\($0)" } ?? "")
    }

    private func hostAndPort(_ authority: String) -> (host: String, port: String?) {
        let location = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let hostEnd = location.lastIndex(of: "]").map { location.index(after: $0) } ?? location.startIndex
        guard let colon = location[hostEnd...].firstIndex(of: ":") else { return (String(location), nil) }
        return (String(location[..<colon]), String(location[location.index(after: colon)...]))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
