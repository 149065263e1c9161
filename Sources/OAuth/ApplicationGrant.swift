import Foundation
package import Projects

/// What a user granted an application; stored with its session.
package struct ApplicationGrant: Sendable, Hashable, Codable {
    /// In the order in which they were requested.
    package var scopes: [String]
    /// For which it gets access tokens, each for one (RFC 8707); empty for the service itself.
    package var resources: [String]
    /// Where its code was sent.
    package var redirectURI: String
    /// The request's own, for the first ID token.
    package var nonce: String?

    /// The JWK thumbprint of the key without which its refresh tokens, and at first its code, are worth nothing (RFC
    /// 9449 §5, §10).
    package var keyThumbprint: String?
    /// Whether it came with refresh tokens; nil for what was granted before this was kept, by the scopes alone.
    package var refreshes: Bool?

    package init(
        scopes: [String],
        resources: [String],
        redirectURI: String,
        nonce: String? = nil,
        keyThumbprint: String? = nil
    ) {
        self.scopes = scopes
        self.resources = resources
        self.redirectURI = redirectURI
        self.nonce = nonce
        self.keyThumbprint = keyThumbprint
    }

    /// Whether a user who granted this need not be asked again: the page says where the code goes, too.
    package func covers(_ other: ApplicationGrant) -> Bool {
        redirectURI == other.redirectURI && Set(other.scopes).isSubset(of: scopes)
            && resources(named: other.resources) != nil
    }

    /// The granted resources that a request names, in the grant's spelling; nil if one of them was not granted.
    package func resources(named texts: [String]) -> [String]? {
        let granted = Dictionary(resources.map { (OAuthSettings.normalForm(ofResource: $0), $0) }) { first, _ in first }
        let named = Set(texts.map(OAuthSettings.normalForm(ofResource:)))
        guard named.isSubset(of: granted.keys) else { return nil }
        return resources.filter { named.contains(OAuthSettings.normalForm(ofResource: $0)) }
    }

    /// The grant without the scopes that the client may not have any more, or that the project does not know.
    package func current(of client: OAuthClient, _ settings: OAuthSettings) -> ApplicationGrant {
        var current = self
        current.scopes = client.scopes(of: scopes.joined(separator: " "), settings)
        return current
    }

    /// The audience of an access token: one resource, as the project lists it now, or nil for the service itself.
    ///
    /// - Parameters:
    ///   - texts: what the client names (RFC 8707 §2.2). Without any, it gets the only resource that was granted, but with
    ///     `openid`, at a refresh, the user's claims.
    ///   - isRefresh: whether the grant has begun before.
    package func audience(
        named texts: [String],
        isRefresh: Bool,
        _ settings: OAuthSettings
    ) throws(OAuthError) -> String? {
        let isSignIn = scopes.contains(Scopes.openID) && (isRefresh || resources.count > 1)
        if texts.isEmpty, resources.isEmpty || isSignIn { return nil }
        let named = texts.isEmpty ? resources : self.resources(named: texts) ?? []
        guard named.count == 1,
            let current = settings.resources.isEmpty ? named[0] : settings.listed(resource: named[0])
        else { throw OAuthError(.invalidTarget, "resource must be one that was granted") }
        return current
    }

    package var json: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    package init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }
}
