/// What a provider handed out beside the identity.
///
/// Secret: stored encrypted, never logged.
package struct ProviderTokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    package var idToken: String?
    package var accessToken: String?
    package var refreshToken: String?
    /// OAuth 1.0a alone.
    package var tokenSecret: String?
    package var authorizationCode: String?
    /// Life of the access token in seconds from its issue; nil when the provider did not say.
    package var expiresIn: Int?
    /// Seconds since 1970: when the service got them from the provider; nil for tokens that an app got by itself.
    package var issuedAt: Int64?
    /// What was granted, which may be less or more than was asked for.
    package var scopes: [String]
    /// The client that they were given to; nil for the configured one.
    package var clientID: String?

    package init(
        idToken: String? = nil,
        accessToken: String? = nil,
        refreshToken: String? = nil,
        tokenSecret: String? = nil,
        authorizationCode: String? = nil,
        expiresIn: Int? = nil,
        issuedAt: Int64? = nil,
        scopes: [String] = [],
        clientID: String? = nil
    ) {
        self.idToken = idToken
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenSecret = tokenSecret
        self.authorizationCode = authorizationCode
        self.expiresIn = expiresIn
        self.issuedAt = issuedAt
        self.scopes = scopes
        self.clientID = clientID
    }

    package var description: String { "<provider tokens>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
