import Foundation
import Text

/// An app's URL to which a browser may be sent, parsed strictly.
///
/// Two parsers must agree: our own, which accepts visible ASCII without user info, backslash or fragment, and
/// Foundation's. Browsers may misread what the two read differently (T-B6).
package struct ContinueURI: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// Lowercase; the content of brackets is unchanged.
    package let host: String
    /// The scheme's own if there is none.
    package let port: Int?
    /// Unchanged; `/` if there is none.
    package let path: String
    package let query: String?

    package init?(_ text: String) {
        guard text.utf8.count <= 2048, let parts = URLParts(text), parts.isWeb, let host = parts.host,
            Self.isHost(host), parts.port != 0,
            // No empty port, and none with leading zeros.
            parts.authority?.lowercased() == host + (parts.port.map { ":\($0)" } ?? "")
        else { return nil }
        guard let other = URLComponents(string: text), other.scheme?.lowercased() == parts.scheme,
            other.encodedHost?.lowercased() == host, other.port == parts.port, other.user == nil,
            other.password == nil, other.fragment == nil
        else { return nil }
        self.scheme = parts.scheme
        self.host = host
        self.port = parts.effectivePort
        self.path = parts.path.isEmpty ? "/" : parts.path
        self.query = parts.query
        self.isLoopback = parts.isLoopback
    }

    private static func isHost(_ text: String) -> Bool {
        if text == "[::1]" { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy(\.isHostLabel)
    }

    /// Host and port as in `Host` (RFC 9110 §7.2), without the scheme's own port, as browsers send it.
    package var authority: String { port == (scheme == "https" ? 443 : 80) ? host : "\(host):\(port ?? 0)" }

    /// Whether it can be a page's `Origin` (RFC 6454 §6.1).
    package var isOrigin: Bool { path == "/" && query == nil }

    /// `localhost`, a name below it, or an address of this machine.
    package let isLoopback: Bool

    package func hasParameter(_ name: String) -> Bool {
        FormFields(query ?? "").pairs.contains { $0.name.lowercased() == name }
    }

    /// Whether the project allows browsers to be sent there: to one of its ``Projects/ProjectSettings/continueURLs`` or
    /// below, or, if it has none, to any page on its authorized domains.
    ///
    /// Plain http is only allowed for loopback.
    package func isAllowed(by settings: ProjectSettings, anyLoopback: Bool) -> Bool {
        if isLoopback, anyLoopback { return true }
        guard scheme == "https" || isLoopback else { return false }
        guard settings.continueURLs.isEmpty else {
            return settings.continueURLs.contains { ContinueURI($0).map(isAtOrBelow) ?? false }
        }
        return settings.authorizes(host: host)
    }

    /// Whether pages of this origin are the project's: by https, or on loopback, on one of its authorized domains.
    package func isAuthorizedOrigin(of settings: ProjectSettings, anyLoopback: Bool) -> Bool {
        isLoopback && anyLoopback || (scheme == "https" || isLoopback) && settings.authorizes(host: host)
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
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// A segment that a browser or a server may interpret as a parent directory, or as several segments: `..`,
    /// `%2e%2e`, `..;x`, `a%2fb`.
    private static func leadsElsewhere(_ segment: Substring) -> Bool {
        guard let plain = PercentEncoding.decode(segment) else { return true }
        let name = plain.prefix { $0 != ";" }
        return name == "." || name == ".." || plain.contains { "/\\%".contains($0) || $0.isNewline }
    }
}
