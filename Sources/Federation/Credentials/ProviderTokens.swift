/// The tokens that a provider returned with the identity.
///
/// Secret: stored encrypted, never logged.
package struct ProviderTokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    package var idToken: String?
    package var accessToken: String?
    package var refreshToken: String?
    /// OAuth 1.0a only.
    package var tokenSecret: String?
    package var authorizationCode: String?
    /// Lifetime of the access token in seconds from its issue; nil if the provider did not state it.
    package var expiresIn: Int?
    /// Seconds since 1970: when the service received them from the provider; nil for tokens that an app received
    /// itself.
    package var issuedAt: Int64?
    /// The granted scopes, which may differ from the requested ones.
    package var scopes: [String]
    /// The client that they were issued to; nil for the configured one.
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
