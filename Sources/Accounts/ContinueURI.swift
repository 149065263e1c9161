import Foundation

/// A URL of an app to which a browser may be sent, parsed strictly.
///
/// Two parsers must agree: our own, which takes visible ASCII without user info, backslash or fragment, and Foundation's.
/// What they read differently, browsers may too (T-B6).
package struct ContinueURI: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// Lower-case, without brackets' contents changed.
    package let host: String
    package let port: Int?
    package let query: String?

    package init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 92 }), !text.contains("#")
        else {
            return nil
        }
        guard let separator = text.range(of: "://") else { return nil }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[separator.upperBound...]
        let end = rest.firstIndex { "/?".contains($0) } ?? rest.endIndex
        let authority = rest[..<end].lowercased()
        guard !authority.contains("@"), !authority.contains("%") else { return nil }
        var host = authority
        var port: Int?
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            guard let number = Int(digits), (1...65_535).contains(number), String(number) == digits else { return nil }
            port = number
            host = String(authority[..<colon])
        }
        guard Self.isHost(host) else { return nil }
        guard let other = URLComponents(string: text), other.scheme?.lowercased() == scheme,
            other.encodedHost?.lowercased() == host, other.port == port, other.user == nil, other.password == nil,
            other.fragment == nil
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) }
    }

    private static func isHost(_ text: String) -> Bool {
        if text == "[::1]" { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        }
    }

    package var isLoopback: Bool { host == "localhost" || host == "127.0.0.1" || host == "[::1]" }

    package func hasParameter(_ name: String) -> Bool {
        (query ?? "").split(separator: "&").contains { pair in
            let key = pair.prefix { $0 != "=" }
            return key.removingPercentEncoding?.lowercased() == name
        }
    }

    /// Whether the host is one of the listed domains, exactly; plain http only on loopback.
    package func isAllowed(on domains: [String], anyLoopback: Bool) -> Bool {
        if isLoopback, anyLoopback { return true }
        guard scheme == "https" || isLoopback else { return false }
        return domains.contains { $0.lowercased() == host }
    }
}
