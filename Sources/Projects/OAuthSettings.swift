import Text

/// A project as an OpenID provider for other applications: `identity.oauth`.
package struct OAuthSettings: Sendable, Hashable, Codable {
    package var isEnabled = false
    /// The project's own scopes, and what the consent page says of each.
    package var scopes: [String: String] = [:]
    /// The resources that access tokens may be for (RFC 8707); empty for any.
    package var resources: [String] = []
    /// Whether clients may register themselves (RFC 7591).
    package var allowsRegistration = false
    /// Whether a client's ID may be the URL of a document about it (OAuth Client ID Metadata Document).
    package var allowsDocuments = false
    /// The lifetime of access tokens; one of ``accessTokenLifetimes``.
    package var accessTokenSeconds: Int64 = 3_600

    /// In seconds.
    package static let accessTokenLifetimes: ClosedRange<Int64> = 60...86_400

    package init() {}

    /// Members that a stored value lacks have their defaults.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = OAuthSettings()
        func value<T: Decodable>(_ key: CodingKeys, _ path: KeyPath<OAuthSettings, T>) throws -> T {
            try values.decodeIfPresent(T.self, forKey: key) ?? defaults[keyPath: path]
        }
        isEnabled = try value(.isEnabled, \.isEnabled)
        scopes = try value(.scopes, \.scopes)
        resources = try value(.resources, \.resources)
        allowsRegistration = try value(.allowsRegistration, \.allowsRegistration)
        allowsDocuments = try value(.allowsDocuments, \.allowsDocuments)
        accessTokenSeconds = try value(.accessTokenSeconds, \.accessTokenSeconds)
    }

    /// An absolute URL without a fragment; of the web's, one that every server reads alike.
    package static func isResource(_ text: String) -> Bool {
        guard text.utf8.count <= 2_048, let url = URLParts(text), url.fragment == nil, !url.hasUserInfo else {
            return false
        }
        return url.isWeb || url.scheme != "https" && url.scheme != "http"
    }

    /// A resource's normal form, by which resources are compared everywhere (RFC 3986 §6, RFC 8707 §2): MCP clients add
    /// a slash to `https://mcp.example.com`.
    package static func normalForm(ofResource text: String) -> String { URLParts(text)?.normalForm ?? text }

    /// Whether no two of the texts are one resource.
    package static func areDistinct(resources texts: [String]) -> Bool {
        Set(texts.map(normalForm(ofResource:))).count == texts.count
    }

    /// A resource as the project lists it, which is what its server expects in `aud`; nil if the list lacks it.
    package func listed(resource text: String) -> String? {
        let form = Self.normalForm(ofResource: text)
        return resources.first { Self.normalForm(ofResource: $0) == form }
    }
}
