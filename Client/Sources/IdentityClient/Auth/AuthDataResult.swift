import Foundation

/// The result of a sign-in or a link.
public struct AuthDataResult: Sendable {
    public var user: User
    /// The provider's tokens, if a provider was involved.
    public var credential: OAuthCredential?
    public var additionalUserInfo: AdditionalUserInfo
}

/// What a provider returned about a user.
public struct AdditionalUserInfo: Sendable, Hashable {
    /// Nil for passwords and anonymous sign-ins.
    public var providerID: String?
    /// Whether the sign-in created the account.
    public var isNewUser: Bool
    /// The user's name at the provider, such as a GitHub login.
    public var username: String?
    /// The provider's profile as the text of a JSON object.
    public var profileJSON: String?

    init(_ response: SignInResponse) {
        self.providerID = response.providerId
        self.isNewUser = response.isNewUser ?? false
        self.username = response.screenName
        self.profileJSON = response.rawUserInfo
    }
}

/// The tokens of a provider, for its own API.
public struct OAuthCredential: Sendable, Hashable {
    public var providerID: String
    public var idToken: String?
    public var accessToken: String?
    /// Only with OAuth 1.0a.
    public var secret: String?
    public var refreshToken: String?
    /// The access token's lifetime.
    public var lifetime: Duration?

    init?(_ response: SignInResponse) {
        guard let providerID = response.providerId else { return nil }
        self.providerID = providerID
        self.idToken = response.oauthIdToken
        self.accessToken = response.oauthAccessToken
        self.secret = response.oauthTokenSecret
        self.refreshToken = response.oauthRefreshToken
        self.lifetime = response.oauthExpireIn.map { .seconds($0) }
    }
}

extension OAuthCredential: CustomStringConvertible, CustomReflectable {
    /// Names the provider only: tokens must not reach a log.
    public var description: String { "OAuthCredential(\(providerID))" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
