package import Projects
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

extension OAuthClient {
    /// Those of a `scope` parameter that the project knows and the client may have; others are left out (RFC 6749 §3.3).
    package func scopes(of text: String?, _ settings: OAuthSettings) -> [String] {
        let known = Scopes.standard + settings.scopes.keys
        let allowed = metadata.scopes ?? known
        return Scopes.list(text ?? "").filter { known.contains($0) && allowed.contains($0) }
    }
}

extension OAuthSettings {
    /// The resources of a request, each once and as the project lists it (RFC 8707 §2).
    package func resources(_ texts: [String]) throws(OAuthError) -> [String] {
        var seen: Set<String> = []
        var found: [String] = []
        for text in texts {
            let form = Self.normalForm(ofResource: text)
            guard !seen.contains(form) else { continue }
            guard found.count < 10, Self.isResource(text) else {
                throw OAuthError(.invalidTarget, "resource must be an absolute URL without a fragment")
            }
            guard let resource = resources.isEmpty ? text : listed(resource: text) else {
                throw OAuthError(.invalidTarget, "The project has no such resource")
            }
            seen.insert(form)
            found.append(resource)
        }
        return found
    }
}
