public import Foundation

extension User {
    /// Returns an access token of a linked provider, which the service renews if necessary.
    ///
    /// Not part of Firebase.
    ///
    /// The provider's configuration must store tokens (`definition.keepTokens`).
    /// - Throws: ``AuthErrorCode/providerConsentRequired`` if the user must sign in at the provider again.
    public func providerToken(for providerID: String) async throws(AuthError) -> ProviderToken {
        let response = try await call("v1/accounts:providerToken", returning: ProviderTokenResponse.self) {
            $0.providerId = providerID
        }
        return ProviderToken(
            providerID: response.providerId,
            accessToken: response.oauthAccessToken,
            secret: response.oauthTokenSecret,
            idToken: response.oauthIdToken,
            lifetime: response.oauthExpireIn.map { .seconds($0) },
            scopes: response.scopes ?? []
        )
    }

    /// Returns the state of the user's identity at a provider, as the provider last reported it.
    ///
    /// Not part of Firebase.
    public func credentialState(for providerID: String) async throws(AuthError) -> CredentialState {
        let response = try await call("v1/accounts:credentialState", returning: CredentialStateResponse.self) {
            $0.providerId = providerID
        }
        return CredentialState(
            authorization: response.credentialState.flatMap { CredentialState.Authorization(rawValue: $0) }
                ?? .notFound,
            isPrivateEmail: response.isPrivateEmail,
            forwardsEmail: response.emailForwarding,
            realUserStatus: response.realUserStatus
        )
    }

    /// Revokes the user's grant at a provider, with an authorization code that the app received.
    ///
    /// The App Store requires this before an account with Sign in with Apple is deleted. The identity stays linked, and
    /// its ``CredentialState`` is `revoked` until the next sign-in.
    ///
    /// - Parameters:
    ///   - authorizationCode: a new one, which the app has not handed to the service.
    ///   - redirectURI: of a code that came through a web page; nil for a code of Apple's sheet.
    public func revokeToken(
        authorizationCode: String,
        redirectURI: URL? = nil,
        providerID: String = "apple.com"
    ) async throws(AuthError) {
        let _: EmptyResponse = try await call("v2/accounts:revokeToken") {
            $0.providerId = providerID
            $0.tokenType = 3
            $0.token = authorizationCode
            $0.redirectUri = redirectURI?.absoluteString
        }
    }
}

/// An access token of a provider.
public struct ProviderToken: Sendable, Hashable {
    public var providerID: String
    public var accessToken: String
    /// Only with OAuth 1.0a.
    public var secret: String?
    public var idToken: String?
    /// The remaining time, at least a minute or half the token's lifetime; nil if the provider states none.
    public var lifetime: Duration?
    /// The granted scopes, if the provider names them.
    public var scopes: [String]
}

extension ProviderToken: CustomStringConvertible, CustomReflectable {
    /// Names the provider only: tokens must not reach a log.
    public var description: String { "ProviderToken(\(providerID))" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The state of a user's identity at a provider.
public struct CredentialState: Sendable, Hashable {
    public enum Authorization: String, Sendable {
        case authorized
        /// The user revoked the app's permission at the provider. The next sign-in there restores it.
        case revoked
        case notFound
    }

    public var authorization: Authorization
    /// Whether the email is a relay address (Apple's Hide My Email); nil if not known.
    public var isPrivateEmail: Bool?
    /// Whether the relay forwards emails; nil if not known.
    public var forwardsEmail: Bool?
    /// Apple's value at sign-up: 0 unsupported, 1 unknown, 2 likely real.
    public var realUserStatus: Int?
}

private struct ProviderTokenResponse: Decodable, Sendable {
    var providerId: String
    var oauthAccessToken: String
    var oauthTokenSecret: String?
    var oauthIdToken: String?
    var oauthExpireIn: Int?
    var scopes: [String]?
}

private struct CredentialStateResponse: Decodable, Sendable {
    var credentialState: String?
    var isPrivateEmail: Bool?
    var emailForwarding: Bool?
    var realUserStatus: Int?
}
