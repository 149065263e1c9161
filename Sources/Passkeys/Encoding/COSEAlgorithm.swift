/// The signature algorithms of passkeys, by their number in IANA's COSE registry; the preferred one first.
///
/// Between them, every authenticator has one: ES256 phones, browsers and security keys, RS256 the TPMs of older Windows.
package enum COSEAlgorithm: Int, Sendable, Hashable, Codable, CaseIterable {
    case es256 = -7
    /// Ed25519 only (WebAuthn §5.8.5).
    case edDSA = -8
    case rs256 = -257
}
