/// The pieces of an absolute URL, split at the delimiters of RFC 3986 and otherwise untouched.
package struct SplitURL: Sendable, Hashable {
    /// Lower case.
    package var scheme: String
    /// Lower case, with the brackets of an IPv6 address; empty when the URL has no authority.
    package var host: String
    /// As written, or the scheme's own; nil when neither is there.
    package var port: Int?
    package var path: String
    /// Without the question mark; nil when there is none.
    package var query: String?
    /// Without the number sign; nil when there is none.
    package var fragment: String?

    /// Nil for anything without a scheme.
    package init?(_ text: String) {
        var rest = Substring(text)
        if let mark = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        guard let colon = rest.firstIndex(of: ":"), colon != rest.startIndex else { return nil }
        scheme = rest[..<colon].lowercased()
        guard scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }) else {
            return nil
        }
        rest = rest[rest.index(after: colon)...]
        host = ""
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            var authority = rest[..<end]
            rest = rest[end...]
            guard !authority.contains("@") else { return nil }
            if let mark = authority.lastIndex(of: ":"), !authority[mark...].contains("]") {
                guard let number = Int(authority[authority.index(after: mark)...]) else { return nil }
                port = number
                authority = authority[..<mark]
            }
            host = authority.lowercased()
        }
        port = port ?? ["http": 80, "https": 443][scheme]
        path = String(rest)
    }

    package var isLoopback: Bool {
        ["localhost", "127.0.0.1", "[::1]"].contains(host) || host.hasSuffix(".localhost")
    }

    /// Scheme, host and port: where cookies and stored data belong (RFC 6454).
    package var origin: String { scheme + "://" + host + (port.map { ":\($0)" } ?? "") }
}
