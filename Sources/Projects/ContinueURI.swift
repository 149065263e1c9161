import Foundation

/// An app's URL to which a browser may be sent, parsed strictly.
///
/// Two parsers must agree: our own, which accepts visible ASCII without user info, backslash or fragment, and
/// Foundation's. Browsers may misread what the two read differently (T-B6).
package struct ContinueURI: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// Lowercase; the content of brackets is unchanged.
    package let host: String
    package let port: Int?
    /// Unchanged; `/` if there is none.
    package let path: String
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
        let path = rest[end...].prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
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

    /// Host and port as in `Host` (RFC 9110 §7.2).
    package var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// Whether it can be a page's `Origin` (RFC 6454 §6.1).
    package var isOrigin: Bool { path == "/" && query == nil }

    package var isLoopback: Bool { host == "localhost" || host == "127.0.0.1" || host == "[::1]" }

    package func hasParameter(_ name: String) -> Bool {
        (query ?? "").split(separator: "&").contains { pair in
            let key = pair.prefix { $0 != "=" }
            return key.removingPercentEncoding?.lowercased() == name
        }
    }

    /// Whether the project allows browsers to be sent there: to one of its ``Projects/ProjectSettings/continueURLs`` or
    /// below, or, if it has none, to any page on its authorized domains.
    ///
    /// The host must match a domain exactly, and plain http is only allowed for loopback.
    package func isAllowed(by settings: ProjectSettings, anyLoopback: Bool) -> Bool {
        if isLoopback, anyLoopback { return true }
        guard scheme == "https" || isLoopback else { return false }
        guard settings.continueURLs.isEmpty else {
            return settings.continueURLs.contains { ContinueURI($0).map(isAtOrBelow) ?? false }
        }
        return isOnAuthorizedDomain(of: settings)
    }

    /// Whether pages of this origin are the project's: by https, or on loopback, on one of its authorized domains.
    package func isAuthorizedOrigin(of settings: ProjectSettings, anyLoopback: Bool) -> Bool {
        isLoopback && anyLoopback || (scheme == "https" || isLoopback) && isOnAuthorizedDomain(of: settings)
    }

    private func isOnAuthorizedDomain(of settings: ProjectSettings) -> Bool {
        settings.authorizedDomains.contains { $0.lowercased() == host }
    }

    /// The path below another URL, starting with `/`; nil if it is not below it.
    package func path(below other: ContinueURI) -> String? {
        let above = other.path.hasSuffix("/") ? String(other.path.dropLast()) : other.path
        guard isSameOrigin(as: other), isPlainPath, path.hasPrefix(above + "/") else { return nil }
        return String(path.dropFirst(above.count))
    }

    /// Whether it can be one of ``Projects/ProjectSettings/continueURLs``.
    package var isRegistrable: Bool { (scheme == "https" || isLoopback) && query == nil && isPlainPath }

    private var isPlainPath: Bool { !path.split(separator: "/").contains(where: Self.leadsElsewhere) }

    /// Whether scheme, host and port are the same, and the path is the other one's or continues it at a `/`.
    private func isAtOrBelow(_ other: ContinueURI) -> Bool {
        guard isSameOrigin(as: other), isPlainPath else { return false }
        let above = other.path.hasSuffix("/") ? other.path : other.path + "/"
        return path == other.path || path.hasPrefix(above)
    }

    private func isSameOrigin(as other: ContinueURI) -> Bool {
        scheme == other.scheme && host == other.host && effectivePort == other.effectivePort
    }

    private var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// A segment that a browser or a server may interpret as a parent directory, or as several segments: `..`,
    /// `%2e%2e`, `..;x`, `a%2fb`.
    private static func leadsElsewhere(_ segment: Substring) -> Bool {
        guard let plain = segment.removingPercentEncoding else { return true }
        let name = plain.prefix { $0 != ";" }
        return name == "." || name == ".." || plain.contains { "/\\%".contains($0) || $0.isNewline }
    }
}
