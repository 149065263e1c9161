import HTTPTypes

/// A cookie of ours: for this host alone, out of the reach of scripts.
package struct Cookie: Sendable, Hashable {
    /// A token of RFC 9110 §5.6.2, without the prefix.
    var name: String
    /// Visible ASCII without `"`, `,`, `;` and `\`.
    var value: String
    /// 0 removes it.
    var seconds: Int
    /// Whether browsers reach the service over https.
    ///
    /// A provider's POST carries a cookie only when it is `SameSite=None`, which browsers want to be `Secure`; on loopback
    /// without TLS provider and service are of one site, or the page's own storage helps.
    var isSecure: Bool
    /// Whether other sites' POSTs are to bring it along.
    var returnsFromOtherSites = true
    /// Whether it does not even come along when another site's link is followed.
    var isStrict = false

    /// `__Host-`: browsers take it over https, for this host and all its paths alone (RFC 6265bis §4.1.3.2).
    static func fullName(_ name: String, isSecure: Bool) -> String { isSecure ? "__Host-\(name)" : name }

    package var header: String {
        "\(Self.fullName(name, isSecure: isSecure))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; "
            + (isSecure ? "Secure; " : "") + "SameSite=" + sameSite
    }

    private var sameSite: String {
        if isStrict { return "Strict" }
        return isSecure && returnsFromOtherSites ? "None" : "Lax"
    }

    /// The values that a request has for the name, in their order.
    static func values(_ name: String, isSecure: Bool, in headers: HTTPFields) -> [String] {
        let name = fullName(name, isSecure: isSecure)
        return headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
    }
}
