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
    /// Nil for accounts of the project itself.
    public let tenantID: String?
    /// The session's ID, as in the revocation feed.
    public let sessionID: String?
    /// All claims, custom ones included: `token.claims["role"]?.stringValue`.
    public let claims: Claims

    /// Proves the user's address only if ``isEmailVerified``.
    public var email: String? { claims["email"]?.stringValue }
    public var isEmailVerified: Bool { claims["email_verified"]?.boolValue ?? false }
    public var name: String? { claims["name"]?.stringValue }
    public var picture: String? { claims["picture"]?.stringValue }
    /// Such as `password`, `google.com` or `anonymous`.
    public var signInProvider: String? { claims.object("firebase")?["sign_in_provider"]?.stringValue }
    /// Such as `totp` or `phone`; nil if the user proved no second factor.
    public var secondFactor: String? { claims.object("firebase")?["sign_in_second_factor"]?.stringValue }

    init(_ claims: Claims) throws(TokenError) {
        func time(_ name: String) throws(TokenError) -> Date {
            guard let seconds = claims[name]?.integerValue else { throw .malformed }
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        }
        guard let uid = claims["sub"]?.stringValue, (1...128).contains(uid.utf16.count) else { throw .subject }
        let firebase = claims.object("firebase")
        self.uid = uid
        self.issuedAt = try time("iat")
        self.expiresAt = try time("exp")
        self.authTime = try time("auth_time")
        self.tenantID = firebase?["tenant"]?.stringValue
        self.sessionID = firebase?["sid"]?.stringValue
        self.claims = claims
    }
}
