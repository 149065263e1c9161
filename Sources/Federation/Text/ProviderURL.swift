/// URLs that the service calls or sends browsers to.
enum ProviderURL {
    /// https with a host, without credentials and fragment; http only for this machine, where it is allowed.
    static func isAcceptable(_ text: String, allowsLoopback: Bool) -> Bool {
        guard let parts = URLParts(text), let host = parts.host, !host.isEmpty, !parts.hasUserInfo,
            parts.fragment == nil
        else { return false }
        if parts.scheme == "https" { return true }
        return parts.scheme == "http" && allowsLoopback && isLoopback(host)
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]"
            || (host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) })
    }

    /// Whether the provider of `issuer` may own `url`: the same host, a subdomain, or a listed one.
    static func isOwned(_ url: String, by issuer: String, alsoBy hosts: [String]) -> Bool {
        guard let host = URLParts(url)?.host, let owner = URLParts(issuer)?.host else { return false }
        return host == owner || host.hasSuffix("." + owner) || hosts.contains { $0.lowercased() == host }
    }
}

/// Where a provider may send the browser back.
package enum RedirectURI {
    private static let dangerous: Set<String> = [
        "javascript", "data", "vbscript", "file", "about", "blob", "filesystem",
    ]

    /// An absolute URI of visible ASCII without fragment and credentials; custom schemes may lack an authority.
    package static func isAcceptable(_ text: String) -> Bool {
        guard let parts = URLParts(text), parts.fragment == nil, !parts.hasUserInfo, !dangerous.contains(parts.scheme),
            !text.contains("\\")
        else { return false }
        if parts.scheme == "https" || parts.scheme == "http" { return parts.host.map(isHost) ?? false }
        return true
    }

    /// A host name without characters that browsers interpret specially, or an IPv6 address in brackets.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return text.dropFirst().dropLast().utf8.allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
        }
        return !text.isEmpty && !text.utf8.contains { "[]%<>^|`{}\"".utf8.contains($0) }
    }
}

/// One scope (RFC 6749 §3.3): visible ASCII except `"` and `\`; URLs are allowed.
enum Scope {
    static func isAcceptable(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
