package import Domain
package import Projects

/// The claims of an ID token.
///
/// Times are seconds since 1970.
package struct IDTokenClaims: Sendable {
    /// Seconds from `iat` to `exp`.
    package static let lifetime: Int64 = 3600

    /// `iss`: `https://securetoken.google.com/<project>` unless the project has its own.
    package var issuer: String
    package var project: ProjectID
    package var account: AccountID
    package var session: SessionID
    /// `firebase.jti`, unique for each token.
    ///
    /// The Web SDK stores a new refresh token only if the ID token with it differs from the one it has. It is not at the top
    /// level, where Firebase's tokens have none: `next-firebase-auth-edge` copies unknown claims into a custom token, in
    /// which `jti` is reserved.
    package var id: String
    package var tenant: TenantID
    /// When the user last proved their identity.
    package var authTime: Int64
    package var issuedAt: Int64
    /// `emailLink` appears as `password` in the token, as in Firebase.
    package var signInProvider: ProviderID
    /// Omitted if empty, as are ``picture``, ``email`` and ``phoneNumber``.
    package var name: String?
    package var picture: String?
    package var email: String?
    package var emailVerified: Bool
    /// E.164.
    package var phoneNumber: String?
    /// The account's values for `email`, `phone` and provider IDs.
    package var identities: [String: [String]]
    /// Text of a JSON object, or nil.
    package var accountClaims: String?
    /// Text of a JSON object, or nil; its members take precedence over ``accountClaims``.
    package var sessionClaims: String?
    /// Text of a JSON object, or nil.
    package var signInAttributes: String?
    package var secondFactor: SecondFactor?

    /// The second factor of a sign-in.
    package struct SecondFactor: Sendable, Hashable {
        /// `phone`, `totp` or `passkey`.
        package var kind: String
        /// The ID of the enrollment.
        package var enrollment: String

        package init(kind: String, enrollment: String) {
            self.kind = kind
            self.enrollment = enrollment
        }
    }

    package init(
        issuer: String,
        project: ProjectID,
        account: AccountID,
        session: SessionID,
        id: String,
        tenant: TenantID = .none,
        authTime: Int64,
        issuedAt: Int64,
        signInProvider: ProviderID,
        name: String? = nil,
        picture: String? = nil,
        email: String? = nil,
        emailVerified: Bool = false,
        phoneNumber: String? = nil,
        identities: [String: [String]] = [:],
        accountClaims: String? = nil,
        sessionClaims: String? = nil,
        signInAttributes: String? = nil,
        secondFactor: SecondFactor? = nil
    ) {
        self.issuer = issuer
        self.project = project
        self.account = account
        self.session = session
        self.id = id
        self.tenant = tenant
        self.authTime = authTime
        self.issuedAt = issuedAt
        self.signInProvider = signInProvider
        self.name = name
        self.picture = picture
        self.email = email
        self.emailVerified = emailVerified
        self.phoneNumber = phoneNumber
        self.identities = identities
        self.accountClaims = accountClaims
        self.sessionClaims = sessionClaims
        self.signInAttributes = signInAttributes
        self.secondFactor = secondFactor
    }
}
