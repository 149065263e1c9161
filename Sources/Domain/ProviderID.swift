/// A sign-in provider, spelled as on the wire: `google.com`, `oidc.acme`, `password`.
package struct ProviderID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package init(stringLiteral value: String) { self.rawValue = value }

    package var description: String { rawValue }

    package static let password = ProviderID("password")
    package static let phone = ProviderID("phone")
    package static let anonymous = ProviderID("anonymous")
    package static let custom = ProviderID("custom")
    package static let emailLink = ProviderID("emailLink")
    package static let passkey = ProviderID("passkey")
    package static let google = ProviderID("google.com")
    package static let github = ProviderID("github.com")
    package static let apple = ProviderID("apple.com")

    /// Whether this is an identity provider, not one of the service's own methods.
    package var isFederated: Bool {
        ![.password, .phone, .anonymous, .custom, .emailLink, .passkey].contains(self)
    }
    package var isOIDC: Bool { rawValue.hasPrefix("oidc.") }
    package var isOAuth2: Bool { rawValue.hasPrefix("oauth.") }
    package var isSAML: Bool { rawValue.hasPrefix("saml.") }
}
