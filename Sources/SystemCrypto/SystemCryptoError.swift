/// What libcrypto, libcrypt or libargon2 could not do.
///
/// It never says more: its own messages can quote key material.
package enum SystemCryptoError: Error, Equatable {
    case keyGenerationFailed
    /// The bytes are not the DER of an RSA key of 2048 to 4096 bits, or the halves of the key do not fit.
    case invalidKey
    case signingFailed
    case encodingFailed
    /// The parameters of a password hash are none, or there is no memory for it.
    case hashingFailed
}
