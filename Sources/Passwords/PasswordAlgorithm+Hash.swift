import Crypto
import CryptoExtras

extension PasswordAlgorithm.Order {
    func join(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        switch self {
        case .saltAndPassword: salt + password
        case .passwordAndSalt: password + salt
        }
    }
}

extension PasswordAlgorithm.Digest {
    func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .md5: [UInt8](Insecure.MD5.hash(data: bytes))
        case .sha1: [UInt8](Insecure.SHA1.hash(data: bytes))
        case .sha256: [UInt8](SHA256.hash(data: bytes))
        case .sha512: [UInt8](SHA512.hash(data: bytes))
        }
    }

    func authenticationCode(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch self {
        case .md5: [UInt8](HMAC<Insecure.MD5>.authenticationCode(for: bytes, using: key))
        case .sha1: [UInt8](HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
        case .sha256: [UInt8](HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        case .sha512: [UInt8](HMAC<SHA512>.authenticationCode(for: bytes, using: key))
        }
    }

    /// - Parameter rounds: 0 counts as 1.
    func pbkdf2(_ password: [UInt8], salt: [UInt8], rounds: Int, count: Int) throws -> [UInt8] {
        let function: KDF.Insecure.PBKDF2.HashFunction =
            switch self {
            case .md5: .insecureMD5
            case .sha1: .insecureSHA1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: password,
            salt: salt,
            using: function,
            outputByteCount: count,
            unsafeUncheckedRounds: max(1, rounds)
        )
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}

extension StandardScryptParameters {
    func hash(_ password: [UInt8], salt: [UInt8]) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: password,
            salt: salt,
            outputByteCount: length,
            rounds: cost,
            blockSize: blockSize,
            parallelism: parallelization
        )
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}
