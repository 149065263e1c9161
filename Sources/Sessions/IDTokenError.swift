/// Why an ID token was refused: for logs and metrics.
///
/// A client receives `INVALID_ID_TOKEN`, or `TENANT_ID_MISMATCH` for ``wrongTenant``.
package enum IDTokenError: String, Error, Equatable, CaseIterable {
    /// Not a JWT in the one form that we create.
    case malformed
    case wrongAlgorithm
    case unknownKey
    case badSignature
    case wrongIssuer
    case wrongAudience
    /// `iat` is more than ``IDTokenVerifier/clockSkew`` in the future.
    case issuedInFuture
    case wrongTenant
    case expired
}
