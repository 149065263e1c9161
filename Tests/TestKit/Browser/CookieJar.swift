import Text

/// Cookies by origin, with the rules of RFC 6265bis that sign-in flows run into.
struct CookieJar {
    private struct Cookie {
        var name: String
        var value: String
        var path: String
        /// `lax`, `strict` or `none`.
        var sameSite: String
    }

    private var cookies: [String: [Cookie]] = [:]

    /// Takes a `Set-Cookie` header of an answer from that URL.
    mutating func store(_ header: String, from url: URLParts) {
        guard let origin = url.origin else { return }
        let parts = header.split(separator: ";").map { $0.drop { $0 == " " } }
        guard let first = parts.first, let (name, value) = Self.pair(first) else { return }
        var cookie = Cookie(name: name, value: value, path: "/", sameSite: "lax")
        var isEnded = false
        for part in parts.dropFirst() {
            let (key, value) = Self.pair(part) ?? (String(part), "")
            switch key.lowercased() {
            case "path": cookie.path = value
            case "samesite": cookie.sameSite = value.lowercased()
            case "max-age": isEnded = (Int(value) ?? 1) <= 0
            case "expires": isEnded = isEnded || value.contains("1970")
            default: break
            }
        }
        var list = cookies[origin] ?? []
        list.removeAll { $0.name == cookie.name && $0.path == cookie.path }
        if !isEnded { list.append(cookie) }
        cookies[origin] = list
    }

    /// The `Cookie` header for a navigation; nil when there are none.
    ///
    /// - Parameter isCrossSite: started by another site: `Strict` cookies stay behind, and with a POST `Lax` ones too.
    func header(for url: URLParts, method: String, isCrossSite: Bool) -> String? {
        let path = url.path.isEmpty ? "/" : url.path
        let sent = (url.origin.flatMap { cookies[$0] } ?? []).filter { cookie in
            let isMeant =
                path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/")
            guard isMeant, isCrossSite else { return isMeant }
            return cookie.sameSite == "none" || cookie.sameSite == "lax" && method == "GET"
        }
        return sent.isEmpty ? nil : sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// The value of a cookie of an origin.
    func value(_ name: String, origin: String) -> String? {
        cookies[origin]?.first { $0.name == name }?.value
    }

    private static func pair(_ text: Substring) -> (String, String)? {
        guard let mark = text.firstIndex(of: "=") else { return nil }
        return (String(text[..<mark]), String(text[text.index(after: mark)...]))
    }
}
