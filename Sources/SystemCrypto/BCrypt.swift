import CCrypt

/// bcrypt, by libcrypt.
package enum BCrypt {
    /// Hashes a password with the variant, cost and salt of another hash.
    ///
    /// Takes 2^cost · 0.06 ms of CPU time. As in every implementation, only the first 72 bytes of a password count.
    ///
    /// - Parameters:
    ///   - password: without NUL, where C would end it.
    ///   - setting: a hash that ``isHash(_:)`` accepts.
    /// - Returns: 60 characters of ASCII.
    package static func hash(_ password: [UInt8], setting: [UInt8]) throws(SystemCryptoError) -> [UInt8] {
        // Otherwise libcrypt would use another of its algorithms, or read past the end.
        guard isHash(setting), !password.contains(0) else { throw .hashingFailed }
        var data: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer { free(data) }
        // libcrypt refuses more than 511 bytes.
        let phrase = password.prefix(72).map { CChar(bitPattern: $0) } + [0]
        guard let hash = crypt_ra(phrase, setting.map { CChar(bitPattern: $0) } + [0], &data, &size) else {
            throw .hashingFailed
        }
        let bytes = Array(String(cString: hash).utf8)
        guard isHash(bytes) else { throw .hashingFailed }
        return bytes
    }

    /// Whether this is a bcrypt hash: `$2a$`, `$2b$` or `$2y$`, two digits of cost, `$`, 22 characters of salt and 31
    /// of hash.
    package static func isHash(_ bytes: [UInt8]) -> Bool { cost(of: bytes) != nil }

    /// The binary logarithm of a hash's rounds; nil if it is not a hash.
    package static func cost(of bytes: [UInt8]) -> Int? {
        guard bytes.count == 60, bytes[0] == UInt8(ascii: "$"), bytes[1] == UInt8(ascii: "2"),
            [UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "y")].contains(bytes[2]),
            bytes[3] == UInt8(ascii: "$"), bytes[6] == UInt8(ascii: "$"), bytes[7...].allSatisfy(isDigit)
        else { return nil }
        return Int(String(decoding: bytes[4...5], as: UTF8.self))
    }

    /// In bcrypt's own base64 alphabet.
    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: ".")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
