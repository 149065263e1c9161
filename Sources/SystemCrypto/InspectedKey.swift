import COpenSSL

/// A key that OpenSSL read from bytes that came from outside.
///
/// The only way to swift-crypto's and swift-certificates' readers (`PublicKey`, `PrivateKey`, `Certificate(der:)`): they
/// get what OpenSSL writes, or a certificate whose key OpenSSL read. swift-crypto before 4.5.2 frees a key twice if its
/// bytes turn out not to be an RSA key.
struct InspectedKey: ~Copyable {
    enum Kind {
        case rsa, p256, p384, p521, ed25519
    }

    private let key: OpaquePointer
    let kind: Kind

    /// Takes ownership of the reference; nil for a type, a curve or RSA numbers that are not accepted.
    private init?(consuming key: OpaquePointer) {
        guard let kind = Self.kind(of: key) else {
            EVP_PKEY_free(key)
            ERR_clear_error()
            return nil
        }
        self.key = key
        self.kind = kind
    }

    deinit { EVP_PKEY_free(key) }

    /// Reads `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1).
    init?(subjectPublicKeyInfo bytes: [UInt8]) {
        guard let key = whole(bytes, { d2i_PUBKEY(nil, &$0, $1) }, EVP_PKEY_free) else { return nil }
        self.init(consuming: key)
    }

    /// Reads the key of a certificate in DER (RFC 5280 §4.1).
    ///
    /// - Parameter bytes: a certificate; nothing may follow it.
    init?(certificate bytes: [UInt8]) {
        guard let certificate = whole(bytes, { d2i_X509(nil, &$0, $1) }, X509_free) else { return nil }
        defer { X509_free(certificate) }
        // A reference of our own, which outlives the certificate; NULL if the key cannot be read.
        guard let key = X509_get_pubkey(certificate) else {
            ERR_clear_error()
            return nil
        }
        guard EVP_PKEY_is_a(key, "RSA") != 1 || Self.isDER(key, of: certificate) else {
            EVP_PKEY_free(key)
            return nil
        }
        self.init(consuming: key)
    }

    /// Whether bytes are a certificate in DER, with any key that OpenSSL knows.
    static func isCertificate(_ bytes: [UInt8]) -> Bool {
        guard let certificate = whole(bytes, { d2i_X509(nil, &$0, $1) }, X509_free) else { return false }
        defer { X509_free(certificate) }
        guard let key = X509_get_pubkey(certificate) else {
            ERR_clear_error()
            return false
        }
        EVP_PKEY_free(key)
        return true
    }

    /// Whether the certificate contains the RSA key as OpenSSL writes it.
    ///
    /// OpenSSL also reads numbers that are not DER: negative ones, or with leading zeros. Others do not.
    private static func isDER(_ key: OpaquePointer, of certificate: OpaquePointer) -> Bool {
        var content: UnsafePointer<UInt8>?
        var count: Int32 = 0
        guard X509_PUBKEY_get0_param(nil, &content, &count, nil, X509_get_X509_PUBKEY(certificate)) == 1, let content,
            let written = try? encoded({ i2d_PublicKey(key, $0) })
        else {
            ERR_clear_error()
            return false
        }
        return written.elementsEqual(UnsafeBufferPointer(start: content, count: Int(count)))
    }

    /// Reads a private key without passphrase in PEM: PKCS#8 (RFC 5958), PKCS#1 or SEC 1.
    init?(privateKeyPEM text: String) {
        // The BIO does not copy the bytes.
        let key = Array(text.utf8).withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(source) }
            // Without this answer OpenSSL asks the terminal for a passphrase.
            return PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key else {
            ERR_clear_error()
            return nil
        }
        self.init(consuming: key)
    }

    /// Reads a private key as PKCS#8 `PrivateKeyInfo` in DER (RFC 5958).
    init?(pkcs8DER bytes: [UInt8]) {
        guard let info = whole(bytes, { d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1) }, PKCS8_PRIV_KEY_INFO_free) else {
            return nil
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let key = EVP_PKCS82PKEY(info) else {
            ERR_clear_error()
            return nil
        }
        self.init(consuming: key)
    }

    /// `SubjectPublicKeyInfo` in DER, as OpenSSL writes it.
    func subjectPublicKeyInfo() -> [UInt8]? { try? encoded { i2d_PUBKEY(key, $0) } }

    /// PKCS#8 `PrivateKeyInfo` in DER, as OpenSSL writes it.
    func pkcs8DER() -> [UInt8]? {
        guard let info = EVP_PKEY2PKCS8(key) else {
            ERR_clear_error()
            return nil
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return try? encoded { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }

    private static func kind(of key: OpaquePointer) -> Kind? {
        if EVP_PKEY_is_a(key, "ED25519") == 1 { return .ed25519 }
        if EVP_PKEY_is_a(key, "RSA") == 1 { return RSALimits.accept(key) ? .rsa : nil }
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, &name, name.count, nil) == 1 else {
            return nil
        }
        switch OBJ_sn2nid(name) {
        case NID_X9_62_prime256v1: return .p256
        case NID_secp384r1: return .p384
        case NID_secp521r1: return .p521
        default: return nil
        }
    }
}

/// The RSA keys that are accepted: a modulus of 2,048 to 8,192 bits, odd; an exponent of 3 to 2³³ - 1, odd.
///
/// Larger ones would let a stranger choose what a verification costs.
enum RSALimits {
    static let modulusBits = 2_048...8_192
    static let exponentBits = 2...33

    fileprivate static func accept(_ key: OpaquePointer) -> Bool {
        number(key, OSSL_PKEY_PARAM_RSA_N, of: modulusBits) && number(key, OSSL_PKEY_PARAM_RSA_E, of: exponentBits)
    }

    private static func number(_ key: OpaquePointer, _ name: String, of bits: ClosedRange<Int>) -> Bool {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return false }
        defer { BN_free(number) }
        return BN_is_negative(number) == 0 && BN_is_odd(number) == 1 && bits.contains(Int(BN_num_bits(number)))
    }

    /// - Parameters:
    ///   - modulus: big-endian, as in a JWK or a COSE key.
    ///   - exponent: big-endian.
    static func accept(modulus: [UInt8], exponent: [UInt8]) -> Bool {
        number(modulus, of: modulusBits) && number(exponent, of: exponentBits)
    }

    private static func number(_ bytes: [UInt8], of bits: ClosedRange<Int>) -> Bool {
        let significant = bytes.drop { $0 == 0 }
        guard let first = significant.first, let last = significant.last, last & 1 == 1 else { return false }
        return bits.contains(significant.count * 8 - first.leadingZeroBitCount)
    }
}

/// Reads with a `d2i` function; nil if it reads less than all bytes.
private func whole(
    _ bytes: [UInt8],
    _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?,
    _ free: (OpaquePointer?) -> Void
) -> OpaquePointer? {
    bytes.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return nil }
        var cursor: UnsafePointer<UInt8>? = start
        guard let value = read(&cursor, buffer.count) else {
            ERR_clear_error()
            return nil
        }
        guard cursor.map({ $0 - start }) == buffer.count else {
            free(value)
            return nil
        }
        return value
    }
}
