package import Projects

/// Checks ID tokens that clients send us.
///
/// Everything that decides is passed in: a token selects none of issuers, audience, keys or algorithm.
package struct IDTokenVerifier: TokenVerifier {
    /// How far ahead of ours the clock of the node that issued a token may be, in seconds.
    ///
    /// Generous, because SDKs sign a user out at `INVALID_ID_TOKEN`: a clock that jumps by a minute must not do that. Only our
    /// own key signs these tokens, and nobody gains by a later `iat`.
    package static let clockSkew: Int64 = 300
    /// Longer tokens are refused unread, in bytes.
    package static let maximumLength = 65_536

    private let cache: VerifiedTokenCache?

    /// - Parameter cache: nil to verify every signature anew.
    package init(cache: VerifiedTokenCache? = nil) { self.cache = cache }

    /// Checks form, algorithm, key, signature, issuer, audience, times and tenant, in this order, `exp` last.
    ///
    /// - Parameters:
    ///   - issuers: what `iss` may be.
    ///   - tenant: the tenant that the request names; nil to take the token's own.
    ///   - now: seconds since 1970.
    package func verify(
        _ token: String,
        project: ProjectID,
        issuers: [String],
        tenant: TenantID? = nil,
        keys: SigningKeys,
        now: Int64
    ) throws(IDTokenError) -> VerifiedIDToken {
        let text = Array(token.utf8)
        guard text.count <= Self.maximumLength else { throw .malformed }
        let digest = cache.map { _ in VerifiedTokenCache.Digest(of: text) }
        let isKnown = digest.flatMap { cache?.contains($0) } ?? false
        let signed = try SignedIDToken(text, keys: keys, isKnown: isKnown)
        let verified = try signed.content.checked(project: project, issuers: issuers, tenant: tenant, now: now)
        if let digest, !isKnown { cache?.insert(digest) }
        return verified
    }

    /// Spares the next call the signature of a token that this process has made a moment ago: most tokens come back to
    /// the node that made them, and soon, as SDKs ask for the account after each sign-in.
    package func remember(_ token: String) {
        cache?.insert(VerifiedTokenCache.Digest(of: Array(token.utf8)))
    }
}

/// What checks ID tokens that clients send: an ``IDTokenVerifier``, in production nothing else.
package protocol TokenVerifier: Sendable {
    func verify(
        _ token: String,
        project: ProjectID,
        issuers: [String],
        tenant: TenantID?,
        keys: SigningKeys,
        now: Int64
    ) throws(IDTokenError) -> VerifiedIDToken

    /// Is told of each token that this process made.
    func remember(_ token: String)
}
