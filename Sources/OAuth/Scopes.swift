import Text

/// Scopes (RFC 6749 §3.3): those of OpenID Connect, and a project's own.
package enum Scopes {
    package static let openID = "openid"
    package static let offlineAccess = "offline_access"
    /// OpenID Connect Core 1.0 §5.4 and §11; `address` is missing because accounts have none.
    package static let standard = [openID, "profile", "email", "phone", offlineAccess]

    /// The names in a `scope` parameter, each once, in order.
    package static func list(_ text: String) -> [String] {
        var names: [String] = []
        for name in text.split(separator: " ").prefix(100) where !names.contains(where: { $0 == name }) {
            names.append(String(name))
        }
        return names
    }

    /// Whether a project may use the name for a scope of its own: `scope-token` of RFC 6749 §3.3.
    package static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.consists(of: .visible) && !text.contains { "\"\\".contains($0) }
            && !standard.contains(text)
    }
}
