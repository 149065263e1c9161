/// What an identity provider asserted about a user, after its response was fully verified.
package struct FederatedIdentity: Sendable, Hashable, Codable {
    package var provider: ProviderID
    /// The user's ID at the provider: opaque, compared byte by byte, 1 to 255 bytes of UTF-8 (OIDC Core §2, `sub`).
    package var subject: String
    /// The canonical issuer of the definition, stored with the subject.
    package var issuer: String
    package var email: EmailAddress?
    /// The provider states that it verified the address; this alone proves nothing (see ``EmailTrust``).
    package var emailVerifiedClaim: Bool
    /// The provider states that it did not verify the address: no rule trusts it then.
    ///
    /// Nil if the provider stated nothing, and in credentials that earlier releases sealed.
    package var emailUnverifiedClaim: Bool?
    /// The provider states that it is the authority for the address: Google's `hd`, Microsoft's `xms_edov`.
    package var emailAuthorityClaim: Bool
    /// A relay address that was created for this app alone (Apple's Hide My Email): it matches no account.
    package var emailIsRelay: Bool
    /// Apple's estimate of whether the user is a real person: 0 unsupported, 1 unknown, 2 likely real.
    package var realUserStatus: Int?
    package var profile: Profile

    package init(
        provider: ProviderID,
        subject: String,
        issuer: String,
        email: EmailAddress? = nil,
        emailVerifiedClaim: Bool = false,
        emailUnverifiedClaim: Bool? = nil,
        emailAuthorityClaim: Bool = false,
        emailIsRelay: Bool = false,
        realUserStatus: Int? = nil,
        profile: Profile = Profile()
    ) {
        self.provider = provider
        self.subject = subject
        self.issuer = issuer
        self.email = email
        self.emailVerifiedClaim = emailVerifiedClaim
        self.emailUnverifiedClaim = emailUnverifiedClaim
        self.emailAuthorityClaim = emailAuthorityClaim
        self.emailIsRelay = emailIsRelay
        self.realUserStatus = realUserStatus
        self.profile = profile
    }
}
