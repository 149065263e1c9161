/// The parts of an absolute URL, each byte unchanged (RFC 3986 appendix B).
package struct URLParts: Sendable, Hashable {
    /// Lowercase.
    package let scheme: String
    /// Nil without `//`: `urn:ietf:…`; empty in `yj-xxxxx:///`.
    package let authority: String?
    /// The authority without user and port, lowercase; an IPv6 address keeps its brackets.
    package let host: String?
    /// As written; nil if there is none.
    package let port: Int?
    package let path: String
    package let query: String?
    package let fragment: String?

    /// Nil unless the text is absolute and consists of visible ASCII, as every URL on the wire does.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 65_536, text.consists(of: .visible) else { return nil }
        // It is ASCII, so bytes are characters, and much faster.
        var rest = text.utf8[...]
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = Substring(rest[..<colon])
        guard Self.isScheme(scheme) else { return nil }
        self.scheme = scheme.lowercased()
        rest = rest[colon...].dropFirst()
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        guard rest.starts(with: "//".utf8) else {
            authority = nil
            host = nil
            self.port = nil
            path = String(Substring(rest))
            return
        }
        rest = rest.dropFirst(2)
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        authority = String(Substring(rest[..<end]))
        path = String(Substring(rest[end...]))
        var location = rest[..<end]
        if let at = location.lastIndex(of: UInt8(ascii: "@")) { location = location[at...].dropFirst() }
        let bracket = location.lastIndex(of: UInt8(ascii: "]")) ?? location.startIndex
        var port: Int?
        if let colon = location[bracket...].firstIndex(of: UInt8(ascii: ":")) {
            let digits = Substring(location[colon...].dropFirst())
            if digits.consists(of: .digits), digits.isEmpty || UInt16(digits) != nil {
                port = Int(digits)
                location = location[..<colon]
            } else if Self.defaultPorts[self.scheme] != nil {
                return nil
            }
            // What the authority of an app's own scheme means is the app's affair: `my-app://auth:callback`.
        }
        self.port = port
        host = Substring(location).lowercased()
    }

    /// RFC 3986 §3.1.
    package static func isScheme(_ text: Substring) -> Bool {
        !text.isEmpty && text.prefix(1).consists(of: .letters) && text.consists(of: .alphanumerics + "+-.")
    }

    /// The part after the first `mark`, which is removed together with it; nil without one.
    private static func cut(_ text: inout Substring.UTF8View, at mark: UInt8) -> String? {
        guard let index = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<index] }
        return String(Substring(text[index...].dropFirst()))
    }

    package var hasUserInfo: Bool { authority?.contains("@") ?? false }

    private static let defaultPorts = ["http": 80, "https": 443]

    var defaultPort: Int? { Self.defaultPorts[scheme] }

    /// The port, or the scheme's own; nil if there is neither.
    package var effectivePort: Int? { port ?? defaultPort }

    /// `scheme://host[:port]` without the scheme's own port (RFC 6454 §6.2); nil without a host.
    package var origin: String? {
        guard let host, !host.isEmpty else { return nil }
        return scheme + "://" + host + (port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? "")
    }
}

extension URLParts {
    /// The address, if the host is one.
    package var address: IPAddress? {
        guard let host, host.hasPrefix("["), host.hasSuffix("]") else { return host.flatMap { IPAddress($0) } }
        return IPAddress(host.dropFirst().dropLast()).flatMap { $0.isIPv6 ? $0 : nil }
    }

    /// `localhost`, a name below it (RFC 6761 §6.3), or a loopback address.
    package var isLoopback: Bool {
        address?.isLoopback ?? (host == "localhost" || host?.hasSuffix(".localhost") == true)
    }

    /// Whether it is an http or https URL that every browser and server reads alike: a host name or an address, without
    /// credentials, fragment and backslash.
    package var isWeb: Bool {
        guard scheme == "https" || scheme == "http", let host, !host.isEmpty, !hasUserInfo, fragment == nil,
            !(path + (query ?? "")).utf8.contains(UInt8(ascii: "\\"))
        else { return false }
        return host.hasPrefix("[")
            ? address != nil : !host.utf8.contains(where: ("[]%<>^|`{}\"\\" as ASCIISet).contains)
    }

    /// Whether it is a web URL with https, or with http on this machine if that is allowed.
    package func isSecure(orLoopback allowsLoopback: Bool) -> Bool {
        isWeb && (scheme == "https" || allowsLoopback && isLoopback)
    }
}
