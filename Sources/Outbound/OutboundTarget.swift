import Text

/// The target of a request, from its URL.
struct OutboundTarget: Sendable, Hashable {
    let encrypted: Bool
    /// Lower-case, without brackets.
    let host: String
    /// The URL with a lowercase host, otherwise unchanged.
    let url: String

    /// Accepts `https://host[:port][/…][?…]` and the same with http: no credentials, no fragment, visible ASCII.
    init(_ text: String) throws(OutboundError) {
        guard text.utf8.count <= 8192, let parts = URLParts(text), parts.isWeb, parts.port != 0,
            let host = parts.address?.text ?? parts.host, (1...253).contains(host.utf8.count),
            parts.address != nil || host.consists(of: .alphanumerics + "-._")
        else { throw .invalidURL }
        self.encrypted = parts.scheme == "https"
        self.host = host
        let location = (parts.host ?? "") + (parts.port.map { ":\($0)" } ?? "")
        let path = parts.path.isEmpty ? "/" : parts.path
        self.url = parts.scheme + "://" + location + path + (parts.query.map { "?" + $0 } ?? "")
    }
}
