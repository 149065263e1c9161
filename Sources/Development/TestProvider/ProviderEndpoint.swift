/// What a tenant of the test provider serves.
package enum ProviderEndpoint: String, Sendable, Hashable, CaseIterable {
    case discovery
    case authorization
    case token
    /// The OIDC userinfo endpoint, or the profile of an OAuth2 provider (GitHub's `/user`).
    case userinfo
    /// GitHub's `/user/emails`.
    case emails
    case keys
    /// Yahoo! JAPAN's keys as a JSON object of key ids and PEM.
    case publicKeys
    case revocation
    /// Where the provider says for whom an access token was made.
    case tokenCheck
    /// OAuth 1.0a: where a sign-in begins.
    case requestToken
}
