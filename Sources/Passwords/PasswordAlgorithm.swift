package import SystemCrypto

/// The algorithm of imported password hashes, without the key.
package enum PasswordAlgorithm: Sendable, Hashable, Codable {
    /// Firebase's modified scrypt; its key is the signer key.
    case firebaseScrypt(parameters: ScryptParameters)
    /// RFC 7914.
    case scrypt(parameters: StandardScryptParameters)
    /// Each hash contains variant, cost and salt.
    case bcrypt
    /// RFC 9106; its key is the associated data.
    case argon2(parameters: Argon2)
    /// RFC 8018 §5.2, with HMAC of this digest.
    case pbkdf2(digest: Digest, rounds: Int)
    /// A digest of salt and password, then repeatedly of itself for the remaining rounds.
    case digest(Digest, rounds: Int, order: Order)
    /// An HMAC of salt and password.
    case hmac(Digest, order: Order)

    package enum Digest: String, Sendable, Codable, CaseIterable {
        case md5, sha1, sha256, sha512

        /// In bytes.
        var length: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    package enum Order: String, Sendable, Codable, CaseIterable {
        case saltAndPassword, passwordAndSalt
    }
}

/// The parameters of scrypt (RFC 7914 §2).
package struct StandardScryptParameters: Sendable, Hashable, Codable {
    /// `N`, a power of two.
    package let cost: Int
    /// `r`.
    package let blockSize: Int
    /// `p`.
    package let parallelization: Int
    /// Of the hash, in bytes.
    package let length: Int

    package init(cost: Int, blockSize: Int, parallelization: Int, length: Int) {
        self.cost = cost
        self.blockSize = blockSize
        self.parallelization = parallelization
        self.length = length
    }
}

/// A hash parameter out of range: a stored hash must not require gigabytes or minutes.
package struct PasswordParameterError: Error, Hashable, CustomStringConvertible {
    /// The name in requests.
    package let name: String
    /// `1 to 8`.
    package let range: String

    package init(_ name: String, _ range: String) {
        self.name = name
        self.range = range
    }

    package var description: String { "\(name) must be \(range)" }
}

extension PasswordAlgorithm {
    /// The ranges are those of Firebase's Admin SDKs and API; where they have none, what 32 MiB and about a second of
    /// CPU time allow.
    package func check(key: [UInt8]) throws(PasswordParameterError) {
        func require(_ condition: Bool, _ name: String, _ range: String) throws(PasswordParameterError) {
            guard condition else { throw PasswordParameterError(name, range) }
        }
        switch self {
        case .firebaseScrypt:
            try require(key.count == 64, "signerKey", "64 bytes")
        case .scrypt(let parameters):
            let (n, r, p) = (parameters.cost, parameters.blockSize, parameters.parallelization)
            try require((2...1 << 18).contains(n) && n & (n - 1) == 0, "cpuMemCost", "a power of two, 2 to 262144")
            try require((1...64).contains(r), "blockSize", "1 to 64")
            try require((1...64).contains(p), "parallelization", "1 to 64")
            try require(n * r <= 1 << 18, "cpuMemCost · blockSize", "at most 262144")
            try require(n * r * p <= 1 << 20, "cpuMemCost · blockSize · parallelization", "at most 1048576")
            try require((16...1024).contains(parameters.length), "dkLen", "16 to 1024")
        case .argon2(let parameters):
            try require((1...16).contains(parameters.lanes), "argon2Parameters.parallelism", "1 to 16")
            try require((1...16).contains(parameters.iterations), "argon2Parameters.iterations", "1 to 16")
            try require(
                (8 * parameters.lanes...32_768).contains(parameters.memory),
                "argon2Parameters.memoryCostKib",
                "8 for each lane to 32768"
            )
            try require((4...1024).contains(parameters.length), "argon2Parameters.hashLengthBytes", "4 to 1024")
            try require(key.count <= 1024, "argon2Parameters.associatedData", "at most 1024 bytes")
        case .pbkdf2(_, let rounds):
            try require((0...120_000).contains(rounds), "rounds", "0 to 120000")
        case .digest(let digest, let rounds, _):
            let least = digest == .md5 ? 0 : 1
            try require((least...8192).contains(rounds), "rounds", "\(least) to 8192")
        case .hmac:
            try require((1...1024).contains(key.count), "signerKey", "1 to 1024 bytes")
        case .bcrypt: break
        }
    }
}
