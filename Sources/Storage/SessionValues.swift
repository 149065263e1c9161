package import Linking
package import Sessions

/// A session to insert.
package struct NewSession: Sendable {
    package var id: SessionID
    package var secretHash: [UInt8]
    /// Seconds since 1970.
    package var authTime: Int64
    package var signInProvider: ProviderID
    /// Claims of the provider or of a custom token that live as long as the session: JSON objects as text.
    package var claims: String?
    package var signInAttributes: String?
    package var secondFactor: IDTokenClaims.SecondFactor?
    package var userAgent: String?
    package var addressPrefix: String?
    /// Of the sign-in, for the audit log.
    var origin: AuditOrigin

    package init(
        id: SessionID,
        secretHash: [UInt8],
        authTime: Int64,
        signInProvider: ProviderID,
        claims: String? = nil,
        signInAttributes: String? = nil,
        secondFactor: IDTokenClaims.SecondFactor? = nil,
        userAgent: String? = nil,
        addressPrefix: String? = nil
    ) {
        self.id = id
        self.secretHash = secretHash
        self.authTime = authTime
        self.signInProvider = signInProvider
        self.claims = claims
        self.signInAttributes = signInAttributes
        self.secondFactor = secondFactor
        self.userAgent = userAgent
        self.addressPrefix = addressPrefix
        origin = .current
    }
}

/// A session as it stands.
package struct StoredSession: Sendable, Hashable {
    package var id: SessionID
    package var authTime: Int64
    package var signInProvider: ProviderID
    package var claims: String?
    package var signInAttributes: String?
    package var secondFactor: IDTokenClaims.SecondFactor?
    package var revoked: Bool
}

/// What a write does with the caller's session.
package enum SessionEffect: Sendable {
    /// A new one.
    case open(NewSession)
    /// The session goes on with a new sign-in time, method and secret. The old secret stays good until a minute after
    /// the new one was first used, unless `retiresOldSecret`.
    case renew(NewSession, retiresOldSecret: Bool)
    case none

    var id: SessionID? {
        switch self {
        case .open(let session), .renew(let session, _): session.id
        case .none: nil
        }
    }

    /// When the session signed in, in seconds since 1970; nil without one.
    var authTime: Int64? {
        switch self {
        case .open(let session), .renew(let session, _): session.authTime
        case .none: nil
        }
    }
}
