public import Foundation

/// A provider whose pages sign the user in: Google, GitHub, Yahoo! JAPAN, any OpenID Connect or OAuth 2.0 provider.
///
/// ```swift
/// var yahoo = OAuthProvider(providerID: "oidc.yahoojp")
/// yahoo.scopes = ["profile"]
/// yahoo.customParameters = ["prompt": "login"]
/// let result = try await auth.signIn(with: yahoo, using: LoopbackAuthenticator())
/// ```
public struct OAuthProvider: Sendable, Hashable {
    /// Such as `github.com`, `oidc.yahoojp` or `oauth.feedly`.
    public var providerID: String
    /// In addition to those that the provider's configuration requests.
    public var scopes: [String] = []
    /// Parameters of the provider's authorization page, such as `prompt` or `login_hint`.
    public var customParameters: [String: String] = [:]
    /// Such as `code id_token`; nil for the provider's default.
    ///
    /// Not part of Firebase.
    public var responseType: String?
    /// Whether the result contains the provider's refresh token.
    public var returnsRefreshToken = false

    public init(providerID: String) { self.providerID = providerID }

    /// Makes a credential from tokens that the app received from the provider itself.
    ///
    /// - Parameters:
    ///   - providerID: such as `google.com` or `oidc.line`.
    ///   - idToken: with OpenID Connect.
    ///   - rawNonce: the nonce whose SHA-256, or itself, the app sent to the provider.
    ///   - accessToken: required with OAuth 2.0 and 1.0a.
    ///   - secret: only with OAuth 1.0a.
    public static func credential(
        providerID: String,
        idToken: String? = nil,
        rawNonce: String? = nil,
        accessToken: String? = nil,
        secret: String? = nil
    ) -> AuthCredential {
        let form = FormFields.encode([
            "providerId": providerID, "id_token": idToken, "nonce": rawNonce, "access_token": accessToken,
            "oauth_token_secret": secret,
        ])
        return AuthCredential(providerID: providerID, proof: .tokens(form: form))
    }

    /// Makes a credential of Sign in with Apple.
    ///
    /// - Parameters:
    ///   - idToken: `identityToken` of Apple's credential.
    ///   - rawNonce: the nonce whose SHA-256 in lowercase hexadecimal the app gave to Apple.
    ///   - fullName: Apple returns the name only once, at the first consent. Pass it on then: the service stores it.
    public static func appleCredential(
        withIDToken idToken: String,
        rawNonce: String,
        fullName: PersonNameComponents? = nil
    ) -> AuthCredential {
        let form = FormFields.encode([
            "providerId": "apple.com", "id_token": idToken, "nonce": rawNonce, "user": fullName.flatMap(user),
        ])
        return AuthCredential(providerID: "apple.com", proof: .tokens(form: form))
    }

    /// The name in the form in which Apple sends it to web pages.
    private static func user(_ name: PersonNameComponents) -> String? {
        let parts = ["firstName": name.givenName, "lastName": name.familyName].compactMapValues(\.self)
        guard !parts.isEmpty, let json = try? JSONEncoder().encode(["name": parts]) else { return nil }
        return String(decoding: json, as: UTF8.self)
    }
}
