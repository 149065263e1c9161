/// An RSA key that signs with RSASSA-PKCS1-v1_5 and SHA-256, `RS256` (RFC 7518 §3.3).
///
/// Any number of threads can use one key at the same time. Its description does not contain the key.
package struct RSAPrivateKey: Sendable {
    private let handle: KeyHandle
    package let publicKey: RSAPublicKey

    private init(_ handle: KeyHandle) throws(SystemCryptoError) {
        self.handle = handle
        self.publicKey = try RSAPublicKey(handle)
    }

    /// Generates a 2048-bit key.
    ///
    /// Takes 50 to 500 ms of CPU time.
    package static func generate() throws(SystemCryptoError) -> RSAPrivateKey {
        try RSAPrivateKey(KeyHandle.generate(bits: 2048))
    }

    /// Reads PKCS#8 `PrivateKeyInfo` in DER (RFC 5958), of 2048 to 4096 bits.
    package init(pkcs8DER: [UInt8]) throws(SystemCryptoError) {
        try self.init(KeyHandle.read(pkcs8DER: pkcs8DER))
    }

    /// The key as PKCS#8 `PrivateKeyInfo` in DER, not encrypted.
    package func pkcs8DER() throws(SystemCryptoError) -> [UInt8] { try handle.pkcs8DER() }

    /// Signs a message with RS256; the signature is as long as the modulus.
    ///
    /// Takes 0.3 to 0.7 ms of CPU time.
    package func sign(_ message: [UInt8]) throws(SystemCryptoError) -> [UInt8] { try handle.sign(message) }
}
