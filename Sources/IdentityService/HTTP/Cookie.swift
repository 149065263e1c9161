import HTTPTypes

/// A cookie for this host alone that scripts cannot read.
package struct Cookie: Sendable, Hashable {
    /// A token of RFC 9110 §5.6.2, without the prefix.
    var name: String
    /// Visible ASCII without `"`, `,`, `;` and `\`.
    var value: String
    /// 0 removes it.
    var seconds: Int
    /// Whether browsers reach the service over https.
    ///
    /// A provider's POST only carries a cookie that is `SameSite=None`, which requires `Secure`. On loopback without
    /// TLS, provider and service are the same site, or the page's own storage is used.
    var isSecure: Bool
    /// Whether POSTs from other sites carry it.
    var returnsFromOtherSites = true
    /// Whether it is omitted even when the user follows a link from another site.
    var isStrict = false

    /// `__Host-`: browsers accept it only over https, for this host and all its paths (RFC 6265bis §4.1.3.2).
    static func fullName(_ name: String, isSecure: Bool) -> String { isSecure ? "__Host-\(name)" : name }

    package var header: String {
        "\(Self.fullName(name, isSecure: isSecure))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; "
            + (isSecure ? "Secure; " : "") + "SameSite=" + sameSite
    }

    private var sameSite: String {
        if isStrict { return "Strict" }
        return isSecure && returnsFromOtherSites ? "None" : "Lax"
    }

    /// A request's values of the name, in order.
    static func values(_ name: String, isSecure: Bool, in headers: HTTPFields) -> [String] {
        values(named: fullName(name, isSecure: isSecure), in: headers)
    }

    /// A request's values of the name with its prefix, in order.
    static func values(named name: String, in headers: HTTPFields) -> [String] {
        pairs(in: headers).filter { $0.name == name }.compactMap(\.value)
    }

    /// The names of a request's cookies, in order.
    static func names(in headers: HTTPFields) -> [String] { pairs(in: headers).map(\.name) }

    private static func pairs(in headers: HTTPFields) -> [(name: String, value: String?)] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0].drop { $0 == " " }), parts.count == 2 ? String(parts[1]) : nil)
        }
    }
}
