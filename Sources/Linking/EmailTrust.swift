/// When an address that a provider sends counts as proven, so that it may open or take over an account.
package enum EmailTrust: Sendable, Hashable {
    /// Every address of the provider that it does not itself call unverified (Apple).
    case always
    /// None (GitHub, Facebook, LinkedIn).
    case never
    /// Those that the provider says it verified (`email_verified`).
    case claim
    /// Those that it says it verified, in a domain that it issues itself, or whose authority it claims
    /// (``FederatedIdentity/emailAuthorityClaim``) when `orAuthority` is set.
    case domains(Set<String>, orAuthority: Bool)

    /// The symbol V of the decision table.
    ///
    /// No rule trusts an address that the provider itself calls unverified: `email_verified: false` is what Apple says of
    /// the managed accounts of an organisation.
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
