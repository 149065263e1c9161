/// The target of a request, from its URL.
struct OutboundTarget: Sendable, Hashable {
    let encrypted: Bool
    /// Lower-case, without brackets.
    let host: String
    /// The URL with a lowercase host, otherwise unchanged.
    let url: String

    /// Accepts `https://host[:port][/…][?…]` and the same with http: no credentials, no fragment, visible ASCII.
    init(_ text: String) throws(OutboundError) {
        guard text.utf8.count <= 8192, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\\") }),
            let schemeEnd = text.firstRange(of: "://")
        else { throw .invalidURL }
        let scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .invalidURL }
        let rest = text[schemeEnd.upperBound...]
        let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        guard !authority.contains("@"), !rest[authorityEnd...].contains("#") else { throw .invalidURL }
        let (host, port) = try Self.split(authority)
        self.encrypted = scheme == "https"
        self.host = host
        let bracketed = host.contains(":") ? "[\(host)]" : host
        let tail = rest[authorityEnd...]
        self.url = scheme + "://" + bracketed + (port.map { ":\($0)" } ?? "") + (tail.hasPrefix("/") ? "" : "/") + tail
    }

    private static func split(_ authority: Substring) throws(OutboundError) -> (host: String, port: UInt16?) {
        var host = authority
        var port: UInt16?
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
                throw .invalidURL
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let literal = String(host.dropFirst().dropLast()).lowercased()
            guard case .v6 = IPAddress(literal) else { throw .invalidURL }
            return (literal, port)
        }
        guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(isHostByte) else { throw .invalidURL }
        return (host.lowercased(), port)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 46
            || byte == 95
    }
}
