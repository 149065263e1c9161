package import Text

extension IPAddress {
    /// The address of a caller: `203.0.113.7`, `2001:db8::1`, `fe80::1%eth0`, `::ffff:203.0.113.7` (which is the IPv4
    /// address), and with the port that some proxies add: `203.0.113.7:51008`, `[2001:db8::1]:51008`; nil for other texts.
    package init?(caller text: String) { self.init(caller: text[...]) }

    package init?(caller text: Substring) {
        guard let host = Self.withoutPort(text), let address = IPAddress(host.prefix { $0 != "%" }) else { return nil }
        self = address.unmapped
    }

    /// Nil for a port that is none; only brackets separate one from an IPv6 address (RFC 3986 §3.2.2).
    private static func withoutPort(_ text: Substring) -> Substring? {
        var (host, port) = (text, Substring())
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            (host, port) = (text[..<end].dropFirst(), text[end...].dropFirst())
            guard host.contains(":") else { return nil }
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[colon...])
        }
        guard !port.isEmpty else { return host }
        let digits = port.dropFirst()
        return port.first == ":" && digits.consists(of: .digits) && UInt16(digits) != nil ? host : nil
    }

    /// The network that it belongs to, by which users recognize a device: `203.0.113.0/24`, `2001:db8:0:0::/64`.
    package var prefix: String {
        isIPv6 ? prefix(groups: 4) : bytes.prefix(3).map(String.init).joined(separator: ".") + ".0/24"
    }

    private func prefix(groups count: Int) -> String {
        groups.prefix(count).map { String($0, radix: 16) }.joined(separator: ":") + "::/\(16 * count)"
    }

    /// The smallest unit that a network assigns to a customer: an IPv4 address, a /64 of IPv6.
    package var subscriber: String { isIPv6 ? prefix : text }

    /// The /48 of an IPv6 address, which contains 65,536 subscribers but is often one customer; nil for IPv4.
    package var site: String? { isIPv6 ? prefix(groups: 3) : nil }
}
