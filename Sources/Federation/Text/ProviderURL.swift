import Text

/// URLs that the service calls or sends browsers to.
enum ProviderURL {
    /// https with a host, without credentials and fragment; http only for this machine, where it is allowed.
    static func isAcceptable(_ text: String, allowsLoopback: Bool) -> Bool {
        URLParts(text)?.isSecure(orLoopback: allowsLoopback) ?? false
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
        return parts.isWeb || parts.scheme != "https" && parts.scheme != "http"
    }
}

/// One scope (RFC 6749 §3.3): visible ASCII except `"` and `\`; URLs are allowed.
enum Scope {
    static func isAcceptable(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.consists(of: .visible) && !text.contains { $0 == "\"" || $0 == "\\" }
    }
}
