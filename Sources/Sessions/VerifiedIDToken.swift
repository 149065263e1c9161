package import Domain
package import Projects

/// The content of one of our ID tokens after its signature, issuer, audience and times were checked.
///
/// The caller must check whether the session and the account are still active.
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
    /// The ID of the key that signed it.
    package let kid: String
}
