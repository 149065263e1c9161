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
        let name = fullName(name, isSecure: isSecure)
        return headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
    }
}
