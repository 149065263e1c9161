package import Linking
package import Projects

/// What an ID token of ours says, after its signature, issuer, audience and times were checked.
///
/// Whether the session and the account still stand is for the caller to ask.
package struct VerifiedIDToken: Sendable, Hashable {
    package let account: AccountID
    package let session: SessionID
    package let tenant: TenantID
    /// Seconds since 1970, as are ``issuedAt`` and ``expiresAt``.
    package let authTime: Int64
    package let issuedAt: Int64
    package let expiresAt: Int64
    package let signInProvider: ProviderID
    package let secondFactor: IDTokenClaims.SecondFactor?
    /// The key that signed it.
    package let kid: String
}
