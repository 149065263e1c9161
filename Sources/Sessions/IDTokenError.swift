/// Why an ID token was refused: for logs and metrics.
///
/// A client hears `INVALID_ID_TOKEN`, or `TENANT_ID_MISMATCH` and `TOKEN_EXPIRED` for the last two.
package enum IDTokenError: String, Error, Equatable, CaseIterable {
    /// Not a JWT in the one form that we make.
    case malformed
    case wrongAlgorithm
    case unknownKey
    case badSignature
    case wrongIssuer
    case wrongAudience
    /// More than 60 s ahead of us.
    case issuedInFuture
    case wrongTenant
    case expired
}
