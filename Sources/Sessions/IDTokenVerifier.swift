package import Projects

/// Checks ID tokens that clients send.
///
/// Everything that decides is a parameter: the token itself selects neither issuers, audience, keys nor algorithm.
package struct IDTokenVerifier: TokenVerifier {
    /// How far ahead the clock of the node that issued a token may be, in seconds.
    ///
    /// Generous, because SDKs sign a user out on `INVALID_ID_TOKEN`: a clock that jumps by a minute must not cause
    /// that. Only our own key signs these tokens, and a later `iat` gains an attacker nothing.
    package static let clockSkew: Int64 = 300
    /// Longer tokens are refused without parsing, in bytes.
    package static let maximumLength = 65_536

    private let cache: VerifiedTokenCache?

    /// - Parameter cache: nil to verify every signature again.
    package init(cache: VerifiedTokenCache? = nil) { self.cache = cache }

    /// Checks form, algorithm, key, signature, issuer, audience, times and tenant, in this order, with `exp` last.
    ///
    /// - Parameters:
    ///   - issuers: the allowed values of `iss`.
    ///   - tenant: the tenant that the request names; nil to use the token's own.
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

    /// Saves the next call from verifying the signature of a token that this process has just created.
    ///
    /// Most tokens return to the node that created them soon, because SDKs request the account after each sign-in.
    package func remember(_ token: String) {
        cache?.insert(VerifiedTokenCache.Digest(of: Array(token.utf8)))
    }
}

/// Checks ID tokens that clients send: always an ``IDTokenVerifier`` in production.
package protocol TokenVerifier: Sendable {
    func verify(
        _ token: String,
        project: ProjectID,
        issuers: [String],
        tenant: TenantID?,
        keys: SigningKeys,
        now: Int64
    ) throws(IDTokenError) -> VerifiedIDToken

    /// Called with each token that this process created.
    func remember(_ token: String)
}
