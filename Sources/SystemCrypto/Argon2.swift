import CArgon2

/// Argon2 (RFC 9106), by libargon2.
package struct Argon2: Sendable, Hashable, Codable {
    package enum Variant: String, Sendable, Codable {
        case d, i, id
    }

    package enum Version: Int, Sendable, Codable {
        case v10 = 0x10
        case v13 = 0x13
    }

    package var variant: Variant
    package var version = Version.v13
    /// In KiB, at least 8 for each lane.
    package var memory: Int
    package var iterations: Int
    package var lanes: Int
    /// Of the hash, in bytes.
    package var length: Int

    package init(
        _ variant: Variant,
        version: Version = .v13,
        memory: Int,
        iterations: Int,
        lanes: Int,
        length: Int
    ) {
        self.variant = variant
        self.version = version
        self.memory = memory
        self.iterations = iterations
        self.lanes = lanes
        self.length = length
    }

    /// Hashes a password on the caller's thread, lane after lane.
    ///
    /// - Parameters:
    ///   - salt: at least 8 bytes.
    ///   - secret: the `K` of RFC 9106, empty for none.
    package func hash(
        _ password: [UInt8],
        salt: [UInt8],
        secret: [UInt8] = [],
        associatedData: [UInt8] = []
    ) throws(SystemCryptoError) -> [UInt8] {
        guard let memory = UInt32(exactly: memory), let iterations = UInt32(exactly: iterations),
            let lanes = UInt32(exactly: lanes), (4...1024).contains(length)
        else { throw .hashingFailed }
        // libargon2 declares input as mutable, but only reads it.
        var (password, salt, secret, associatedData) = (password, salt, secret, associatedData)
        var hash = [UInt8](repeating: 0, count: length)
        let result = hash.withUnsafeMutableBufferPointer { hash in
            password.withUnsafeMutableBufferPointer { password in
                salt.withUnsafeMutableBufferPointer { salt in
                    secret.withUnsafeMutableBufferPointer { secret in
                        associatedData.withUnsafeMutableBufferPointer { associatedData in
                            var context = argon2_context()
                            (context.out, context.outlen) = (hash.baseAddress, UInt32(hash.count))
                            (context.pwd, context.pwdlen) = (password.baseAddress, UInt32(clamping: password.count))
                            (context.salt, context.saltlen) = (salt.baseAddress, UInt32(clamping: salt.count))
                            (context.secret, context.secretlen) = (secret.baseAddress, UInt32(clamping: secret.count))
                            (context.ad, context.adlen) = (
                                associatedData.baseAddress, UInt32(clamping: associatedData.count)
                            )
                            (context.t_cost, context.m_cost) = (iterations, memory)
                            (context.lanes, context.threads) = (lanes, 1)
                            context.version = UInt32(version.rawValue)
                            return argon2_ctx(&context, variant.type)
                        }
                    }
                }
            }
        }
        guard result == ARGON2_OK.rawValue else { throw .hashingFailed }
        return hash
    }
}

extension Argon2.Variant {
    fileprivate var type: argon2_type {
        switch self {
        case .d: Argon2_d
        case .i: Argon2_i
        case .id: Argon2_id
        }
    }
}
