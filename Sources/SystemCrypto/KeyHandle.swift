import COpenSSL

/// Owns an `EVP_PKEY`; results are copied.
///
/// `@unchecked Sendable`: nothing changes the key after `init`. OpenSSL 3 counts references to an `EVP_PKEY` atomically
/// and locks what it computes lazily inside an RSA key (Montgomery contexts, blinding), so any number of threads can
/// use one key; each call below has its own context.
final class KeyHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Takes ownership of the caller's reference.
    ///
    /// - Throws: `invalidKey` for anything but an RSA key of 2048 to 4096 bits.
    init(consuming key: OpaquePointer) throws(SystemCryptoError) {
        guard EVP_PKEY_is_a(key, "RSA") == 1, (2048...4096).contains(EVP_PKEY_get_bits(key)) else {
            EVP_PKEY_free(key)
            throw .invalidKey
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    static func generate(bits: Int32) throws(SystemCryptoError) -> KeyHandle {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { throw failure(.keyGenerationFailed) }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw failure(.keyGenerationFailed) }
        return try KeyHandle(consuming: key)
    }

    /// Reads PKCS#8 `PrivateKeyInfo` (RFC 5958), and checks that the public half verifies the private half's
    /// signatures.
    static func read(pkcs8DER bytes: [UInt8]) throws(SystemCryptoError) -> KeyHandle {
        var end = 0
        let info = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard let start = buffer.baseAddress else { return nil }
            var cursor: UnsafePointer<UInt8>? = start
            let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count)
            end = cursor.map { $0 - start } ?? 0
            return info
        }
        guard let info else { throw failure(.invalidKey) }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard end == bytes.count, let key = EVP_PKCS82PKEY(info) else { throw failure(.invalidKey) }
        let handle = try KeyHandle(consuming: key)
        guard handle.isConsistent else { throw failure(.invalidKey) }
        return handle
    }

    /// Reads `SubjectPublicKeyInfo` (RFC 5280 §4.1).
    static func read(publicKeyDER bytes: [UInt8]) throws(SystemCryptoError) -> KeyHandle {
        var end = 0
        let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard let start = buffer.baseAddress else { return nil }
            var cursor: UnsafePointer<UInt8>? = start
            let key = d2i_PUBKEY(nil, &cursor, buffer.count)
            end = cursor.map { $0 - start } ?? 0
            return key
        }
        guard let key else { throw failure(.invalidKey) }
        let handle = try KeyHandle(consuming: key)
        guard end == bytes.count else { throw failure(.invalidKey) }
        return handle
    }

    /// Whether the public half verifies the private half's signatures.
    ///
    /// `EVP_PKEY_pairwise_check` would also test the primes, which takes 50 ms: too long for a node that is serving
    /// requests.
    private var isConsistent: Bool {
        let message: [UInt8] = [0]
        guard let signature = try? sign(message) else { return false }
        return verifies(signature, of: message)
    }

    func pkcs8DER() throws(SystemCryptoError) -> [UInt8] {
        guard let info = EVP_PKEY2PKCS8(key) else { throw failure(.encodingFailed) }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return try encoded { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }

    func publicKeyDER() throws(SystemCryptoError) -> [UInt8] {
        try encoded { [key] in i2d_PUBKEY(key, $0) }
    }

    /// A number of the key (`n`, `e`) as big-endian bytes without leading zeros.
    func number(_ name: String) throws(SystemCryptoError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { throw failure(.encodingFailed) }
        defer { BN_free(number) }
        let count = Int((BN_num_bits(number) + 7) / 8)
        var bytes = [UInt8](repeating: 0, count: count)
        guard BN_bn2bin(number, &bytes) == Int32(count) else { throw failure(.encodingFailed) }
        return bytes
    }

    func sign(_ message: [UInt8]) throws(SystemCryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw failure(.signingFailed) }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count <= signature.count
        else { throw failure(.signingFailed) }
        signature.removeLast(signature.count - count)
        return signature
    }

    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        else {
            ERR_clear_error()
            return false
        }
        return true
    }
}

/// Runs an `i2d` function twice, for the length and for the bytes.
func encoded(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) throws(SystemCryptoError) -> [UInt8] {
    let count = write(nil)
    guard count > 0 else { throw failure(.encodingFailed) }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return write(&cursor)
    }
    guard written == count else { throw failure(.encodingFailed) }
    return bytes
}

/// Clears this thread's queue of OpenSSL errors, so that they do not surface in another call.
private func failure(_ error: SystemCryptoError) -> SystemCryptoError {
    ERR_clear_error()
    return error
}
