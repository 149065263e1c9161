/// Why a token was not accepted.
public enum TokenError: Error, Sendable, Hashable {
    /// Not a signed JWT of at most 16 KiB.
    case malformed
    /// `alg` is not allowed, or not the key's.
    case algorithm
    /// No published key has the token's `kid`.
    case unknownKey
    case signature
    case issuer
    case audience
    case expired
    /// `iat` or `auth_time` is in the future.
    case notYetValid
    /// `sub` is missing, empty or too long.
    case subject
    /// The account belongs to another tenant.
    case tenant
    /// The revocation feed names the session, the account or the tenant.
    case revoked
    /// No keys have been received yet, or none for the maximum age. Respond with 503, not with 401.
    case keysUnavailable
}
