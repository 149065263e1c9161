public import Foundation

/// The claims of a verified ID token or session cookie.
public struct VerifiedToken: Sendable {
    /// The account's ID (`sub`).
    public let uid: String
    public let issuedAt: Date
    public let expiresAt: Date
    /// When the user last signed in; a refresh does not change it.
    ///
    /// Require a recent time before sensitive operations.
    public let authTime: Date
    /// All claims, custom ones included: `token.claims["role"]?.stringValue`.
    public let claims: [String: ClaimValue]

    /// Proves the user's address only if ``isEmailVerified``.
    public var email: String? { claims["email"]?.stringValue }
    public var isEmailVerified: Bool { claims["email_verified"]?.boolValue ?? false }
    public var name: String? { claims["name"]?.stringValue }
    public var picture: String? { claims["picture"]?.stringValue }
    /// Such as `password`, `google.com` or `anonymous`.
    public var signInProvider: String? { claims["firebase"]?["sign_in_provider"]?.stringValue }
    /// Such as `totp` or `phone`; nil if the user proved no second factor.
    public var secondFactor: String? { claims["firebase"]?["sign_in_second_factor"]?.stringValue }
    /// Nil for accounts of the project itself.
    public var tenantID: String? { claims["firebase"]?["tenant"]?.stringValue }
    /// The session's ID, as in the revocation feed.
    public var sessionID: String? { claims["firebase"]?["sid"]?.stringValue }
}
