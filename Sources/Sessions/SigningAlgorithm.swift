/// How an ID token is signed (RFC 7518 §3.1).
package enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256, the only algorithm that Firebase's Admin SDKs verify.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
}
