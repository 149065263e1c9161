import Crypto
import CryptoExtras

/// Firebase's modified scrypt (github.com/firebase/scrypt): scrypt of the password yields an AES-256 key, which
/// encrypts the project's signer key in counter mode; the result is the hash.
package enum FirebaseScrypt {
    /// Takes 30 to 50 ms of CPU time with ``ScryptParameters/standard``, and blocks its thread.
    ///
    /// - Parameter signerKey: 64 bytes; other lengths are refused, because a hash is as long as its key, and two empty
    ///   hashes are equal.
    package static func hash(
        _ password: [UInt8],
        salt: [UInt8],
        parameters: ScryptParameters,
        signerKey: [UInt8]
    ) throws(PasswordError) -> [UInt8] {
        guard signerKey.count == 64 else { throw .hashingFailed }
        do {
            let key = try KDF.Scrypt.deriveKey(
                from: password,
                salt: salt + parameters.saltSeparator,
                outputByteCount: 32,
                rounds: 1 << parameters.memoryCost,
                blockSize: parameters.rounds,
                parallelism: 1
            )
            let nonce = try AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 0, count: 16))
            return [UInt8](try AES._CTR.encrypt(signerKey, using: key, nonce: nonce))
        } catch {
            throw .hashingFailed
        }
    }
}
