import Text

/// An app registered at a tenant of the test provider.
package struct TestClient: Sendable, Hashable {
    package var id: String
    /// Secrets valid at the same time: none for a public client, two during a rotation.
    package var secrets: [String]
    package var redirects: RedirectRule
    package var authentication: Authentication

    /// How the token endpoint expects the client to authenticate (RFC 6749 §2.3.1).
    package enum Authentication: Sendable, Hashable {
        case basic
        case post
        case basicOrPost
        /// A public client: `client_id` alone.
        case none
        /// In the form, signed for each request with this key.
        case appleSecret(AppleClientKey)
    }

    package enum RedirectRule: Sendable, Hashable {
        /// One of these, byte for byte; the first is the default where the personality allows requests without one.
        case exact([String])
        /// GitHub's: host and port of the registered URL, its path or one below it, any port on loopback.
        case below(String)
        /// Any loopback URL or custom scheme: for `identity dev`, where apps come and go.
        case anyLocal
    }

    package init(
        id: String,
        secrets: [String],
        redirects: RedirectRule,
        authentication: Authentication
    ) {
        self.id = id
        self.secrets = secrets
        self.redirects = redirects
        self.authentication = authentication
    }
}

extension TestClient.RedirectRule {
    /// The redirect URI of a request without `redirect_uri`.
    var standard: String? {
        switch self {
        case .exact(let uris): uris.first
        case .below(let uri): uri
        case .anyLocal: nil
        }
    }

    func accepts(_ uri: String) -> Bool {
        guard !uri.contains("#") else { return false }
        switch self {
        case .exact(let uris): return uris.contains(uri)
        case .below(let registered):
            guard let ours = URLParts(registered), let theirs = URLParts(uri), theirs.isWeb,
                ours.scheme == theirs.scheme, ours.host == theirs.host,
                ours.effectivePort == theirs.effectivePort || ours.isLoopback
            else { return false }
            let folder = ours.path.hasSuffix("/") ? ours.path : ours.path + "/"
            return theirs.path == ours.path || theirs.path.hasPrefix(folder) && !theirs.path.contains("..")
        case .anyLocal:
            guard let parts = URLParts(uri) else { return false }
            return parts.scheme == "http" || parts.scheme == "https"
                ? parts.isWeb && parts.isLoopback
                : !["javascript", "data", "file", "blob", "about"].contains(parts.scheme)
        }
    }
}
