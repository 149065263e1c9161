/// When an address from a provider counts as verified, so that it may create or take over an account.
package enum EmailTrust: Sendable, Hashable {
    /// Every address, except those that the provider itself calls unverified (Apple).
    case always
    /// No address (GitHub, Facebook, LinkedIn).
    case never
    /// Addresses that the provider states it verified (`email_verified`).
    case claim
    /// Addresses that it states it verified, in one of its own domains, or for which it claims authority
    /// (``FederatedIdentity/emailAuthorityClaim``) if `orAuthority` is set.
    case domains(Set<String>, orAuthority: Bool)

    /// The symbol V of the decision table.
    ///
    /// No rule trusts an address that the provider itself calls unverified: Apple sends `email_verified: false` for an
    /// organization's managed accounts.
    package func proves(_ identity: FederatedIdentity) -> Bool {
        guard let email = identity.email, identity.emailUnverifiedClaim != true else { return false }
        return switch self {
        case .always: true
        case .never: false
        case .claim: identity.emailVerifiedClaim
        case .domains(let domains, let orAuthority):
            identity.emailVerifiedClaim
                && (domains.contains(email.domain) || (orAuthority && identity.emailAuthorityClaim))
        }
    }
}
