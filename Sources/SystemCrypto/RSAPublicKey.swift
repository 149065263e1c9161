/// The public half of an RSA key, which verifies `RS256` signatures (RFC 7518 §3.3).
package struct RSAPublicKey: Sendable {
    private let handle: KeyHandle
    /// Big-endian, without leading zeros: the `n` of a JWK (RFC 7518 §6.3.1).
    package let modulus: [UInt8]
    /// Big-endian, without leading zeros: the `e` of a JWK.
    package let exponent: [UInt8]
    /// `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1).
    package let subjectPublicKeyInfo: [UInt8]

    init(_ handle: KeyHandle) throws(SystemCryptoError) {
        self.handle = handle
        self.modulus = try handle.number("n")
        self.exponent = try handle.number("e")
        self.subjectPublicKeyInfo = try handle.publicKeyDER()
    }

    /// Reads `SubjectPublicKeyInfo` in DER, of 2048 to 4096 bits.
    package init(subjectPublicKeyInfo: [UInt8]) throws(SystemCryptoError) {
        try self.init(KeyHandle.read(publicKeyDER: subjectPublicKeyInfo))
    }

    /// Whether this is an RS256 signature of the message by this key; false also for one of another length.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        handle.verifies(signature, of: message)
    }
}
