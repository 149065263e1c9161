/// An operation of libcrypto, libcrypt or libargon2 that failed.
///
/// It contains no details, because the libraries' messages can quote key material.
package enum SystemCryptoError: Error, Equatable {
    case keyGenerationFailed
    /// The bytes are not the DER of an RSA key of 2048 to 4096 bits, or the halves of the key do not match.
    case invalidKey
    case signingFailed
    case encodingFailed
    /// The parameters of a password hash are not valid, or there is not enough memory for it.
    case hashingFailed
}
