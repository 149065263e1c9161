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

    /// An absolute URL without a fragment.
    package static func isResource(_ text: String) -> Bool {
        text.utf8.count <= 2_048 && URLParts(text).map { $0.fragment == nil && !$0.hasUserInfo } ?? false
    }
}
