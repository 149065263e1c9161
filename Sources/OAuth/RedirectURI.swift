import Text

/// Where a client gets its codes (RFC 6749 §3.1.2), as it registered it.
package struct RedirectURI: Sendable, Hashable {
    package let text: String
    private let parts: URLParts

    /// Nil for what a client may not register: a relative URL, one with a fragment or credentials, plain http to another
    /// machine, and schemes that browsers execute or open themselves.
    package init?(_ text: String) {
        guard text.utf8.count <= 2_048, let parts = URLParts(text), parts.fragment == nil, !parts.hasUserInfo,
            !text.utf8.contains(where: { ("\\\"<>^`{|}" as ASCIISet).contains($0) })
        else { return nil }
        if parts.scheme == "http" || parts.scheme == "https" {
            guard parts.isSecure(orLoopback: true) else { return nil }
        } else {
            guard !Self.browserSchemes.contains(parts.scheme) else { return nil }
        }
        (self.text, self.parts) = (text, parts)
    }

    private static let browserSchemes: Set = [
        "about", "blob", "data", "file", "filesystem", "ftp", "javascript", "mailto", "vbscript", "view-source", "ws",
        "wss",
    ]

    /// Whether a request's URI is this one: the same bytes (OAuth 2.1 §2.3.1), but any port on this machine, which a
    /// native app learns only when it listens (RFC 8252 §7.3).
    package func allows(_ other: String) -> Bool {
        if text.utf8.elementsEqual(other.utf8) { return true }
        guard isLoopback, let asked = RedirectURI(other)?.parts else { return false }
        return asked.scheme == parts.scheme && asked.host == parts.host && asked.path == parts.path
            && asked.query == parts.query
    }

    private var isLoopback: Bool { parts.scheme == "http" && parts.isLoopback }

    /// Whether anybody's program on the user's device may listen there, so that it identifies no client (RFC 8252 §8.6).
    package var isNative: Bool { parts.scheme != "https" }

    /// `scheme://host` for a person to read.
    package var origin: String { parts.origin ?? "\(parts.scheme):" }
}
