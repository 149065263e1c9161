import Crypto
import Foundation
import Secrets
import SystemCrypto
import Text

/// An algorithm of imported password hashes with its parameters and key; an import uses one, and an export writes a
/// file for each.
///
/// Its description does not contain the key.
package struct PasswordConfiguration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The same for the same algorithm, parameters and key within a project; the key cannot be guessed from it.
    package let id: String
    package let algorithm: PasswordAlgorithm
    /// Empty for algorithms without one.
    package let key: [UInt8]

    /// - Parameter signerKey: the project's.
    /// - Throws: if parameters are out of range.
    package init(
        _ algorithm: PasswordAlgorithm,
        key: [UInt8] = [],
        signerKey: [UInt8]
    ) throws(PasswordParameterError) {
        try algorithm.check(key: key)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = (try? encoder.encode(algorithm)) ?? Data()
        let code = HMAC<SHA256>.authenticationCode(
            for: [UInt8](text) + [0] + key,
            using: SymmetricKey(data: Array("password configuration".utf8) + signerKey)
        )
        self.init(id: "import:" + Base64URL.encode([UInt8](code).prefix(16)), algorithm: algorithm, key: key)
    }

    /// As it was stored.
    package init(id: String, algorithm: PasswordAlgorithm, key: [UInt8]) {
        self.id = id
        self.algorithm = algorithm
        self.key = key
    }

    package var description: String { "PasswordConfiguration(\(id))" }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

extension PasswordConfiguration {
    /// Whether a hash and its salt can be of this configuration; otherwise it could never match a password.
    package func fits(hash: [UInt8], salt: [UInt8]) -> Bool {
        guard salt.count <= 1024 else { return false }
        return switch algorithm {
        case .firebaseScrypt: hash.count == key.count
        case .scrypt(let parameters): hash.count == parameters.length
        // 15 takes two seconds of CPU time, 31 a day and a half.
        case .bcrypt: BCrypt.cost(of: hash).map { (4...15).contains($0) } ?? false
        case .argon2(let parameters): hash.count == parameters.length && salt.count >= 8
        case .pbkdf2: (16...1024).contains(hash.count)
        case .digest(let digest, _, _), .hmac(let digest, _):
            hash.count == digest.length || [UInt8](hexadecimal: hash)?.count == digest.length
        }
    }

    /// Whether this is the hash's password.
    ///
    /// Uses CPU time according to the parameters, and blocks its thread.
    package func matches(_ password: [UInt8], hash: [UInt8], salt: [UInt8]) throws(PasswordError) -> Bool {
        guard fits(hash: hash, salt: salt) else { return false }
        do {
            switch algorithm {
            case .firebaseScrypt(let parameters):
                let made = try FirebaseScrypt.hash(password, salt: salt, parameters: parameters, signerKey: key)
                return ConstantTime.equal(made, hash)
            case .scrypt(let parameters):
                return ConstantTime.equal(try parameters.hash(password, salt: salt), hash)
            case .bcrypt:
                // C would end the password there.
                guard !password.contains(0) else { return false }
                // Only two bits of the salt's last character count.
                let made = try BCrypt.hash(password, setting: hash)
                return ConstantTime.equal(Array(made.suffix(31)), Array(hash.suffix(31)))
            case .argon2(let parameters):
                return ConstantTime.equal(try parameters.hash(password, salt: salt, associatedData: key), hash)
            case .pbkdf2(let digest, let rounds):
                let made = try digest.pbkdf2(password, salt: salt, rounds: rounds, count: hash.count)
                return ConstantTime.equal(made, hash)
            case .digest(let digest, let rounds, let order):
                var made = digest.hash(order.join(password, salt))
                for _ in 1..<max(1, rounds) { made = digest.hash(made) }
                return Self.equal(made, hash)
            case .hmac(let digest, let order):
                return Self.equal(digest.authenticationCode(of: order.join(password, salt), key: key), hash)
            }
        } catch {
            throw .hashingFailed
        }
    }

    /// Digests may be hexadecimal, as Firebase accepts those of MD5.
    private static func equal(_ made: [UInt8], _ hash: [UInt8]) -> Bool {
        ConstantTime.equal(made, hash.count == made.count ? hash : [UInt8](hexadecimal: hash) ?? [])
    }
}
