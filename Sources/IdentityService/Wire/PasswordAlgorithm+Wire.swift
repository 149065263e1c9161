import Foundation
package import Passwords
import Secrets
import SystemCrypto

extension PasswordAlgorithm {
    /// The algorithm of an upload's hashes: `hashAlgorithm` with its parameters, and the key.
    ///
    /// - Returns: nil if the request states none.
    /// - Throws: `INVALID_HASH_ALGORITHM`; `INVALID_HASH_PARAMETER`.
    package static func read(_ body: WireObject) throws(WireError) -> (algorithm: PasswordAlgorithm, key: [UInt8])? {
        guard let name = try body.string("hashAlgorithm"), !name.isEmpty else { return nil }
        let key = try body.bytes("signerKey") ?? []
        // Firebase's command line treats zero and absent alike.
        let rounds = try body.number("rounds") ?? 0
        switch name {
        case "SCRYPT":
            let parameters = ScryptParameters(
                rounds: rounds,
                memoryCost: try body.number("memoryCost") ?? 0,
                saltSeparator: try body.bytes("saltSeparator") ?? []
            )
            guard let parameters else {
                throw WireError(
                    "INVALID_HASH_PARAMETER",
                    "rounds must be 1 to 8, memoryCost 1 to 14, saltSeparator at most 64 bytes"
                )
            }
            return (.firebaseScrypt(parameters: parameters), key)
        case "STANDARD_SCRYPT":
            let parameters = StandardScryptParameters(
                cost: try body.number("cpuMemCost") ?? 0,
                blockSize: try body.number("blockSize") ?? 0,
                parallelization: try body.number("parallelization") ?? 0,
                length: try body.number("dkLen") ?? 0
            )
            return (.scrypt(parameters: parameters), [])
        case "BCRYPT": return (.bcrypt, [])
        case "ARGON2":
            guard let members = try body.object("argon2Parameters") else {
                throw WireError("INVALID_HASH_PARAMETER", "argon2Parameters is missing")
            }
            return (.argon2(parameters: try argon2(members)), try members.bytes("associatedData") ?? [])
        case "PBKDF_SHA1": return (.pbkdf2(digest: .sha1, rounds: rounds), [])
        case "PBKDF2_SHA256": return (.pbkdf2(digest: .sha256, rounds: rounds), [])
        case "PBKDF2_SHA512": return (.pbkdf2(digest: .sha512, rounds: rounds), [])
        default:
            let order = try order(body)
            let isHMAC = name.hasPrefix("HMAC_")
            guard let digest = Digest.allCases.first(where: { (isHMAC ? "HMAC_" : "") + $0.wireName == name }) else {
                throw WireError("INVALID_HASH_ALGORITHM", name)
            }
            // By default, Firebase puts the salt first, but last for HMAC.
            return isHMAC
                ? (.hmac(digest, order: order ?? .passwordAndSalt), key)
                : (.digest(digest, rounds: rounds, order: order ?? .saltAndPassword), [])
        }
    }

    private static func order(_ body: WireObject) throws(WireError) -> Order? {
        let names = ["UNSPECIFIED_ORDER", "SALT_AND_PASSWORD", "PASSWORD_AND_SALT"]
        switch try body.choice("passwordHashOrder", of: names) {
        case names[1]: return .saltAndPassword
        case names[2]: return .passwordAndSalt
        default: return nil
        }
    }

    private static func argon2(_ members: WireObject) throws(WireError) -> Argon2 {
        let variant: Argon2.Variant
        switch try members.choice("hashType", of: ["HASH_TYPE_UNSPECIFIED", "ARGON2_D", "ARGON2_ID", "ARGON2_I"]) {
        case "ARGON2_D": variant = .d
        case "ARGON2_ID": variant = .id
        case "ARGON2_I": variant = .i
        default: throw WireError("INVALID_HASH_PARAMETER", "argon2Parameters.hashType is missing")
        }
        let version = try members.choice("version", of: ["VERSION_UNSPECIFIED", "VERSION_10", "VERSION_13"])
        return Argon2(
            variant,
            version: version == "VERSION_10" ? .v10 : .v13,
            memory: try members.number("memoryCostKib") ?? 0,
            iterations: try members.number("iterations") ?? 0,
            lanes: try members.number("parallelism") ?? 0,
            length: try members.number("hashLengthBytes") ?? 0
        )
    }
}

extension JSONWriter {
    /// The inverse of ``PasswordAlgorithm/read(_:)``.
    package mutating func hashAlgorithm(_ algorithm: PasswordAlgorithm, key: [UInt8]) {
        switch algorithm {
        case .firebaseScrypt(let parameters):
            member("hashAlgorithm", "SCRYPT")
            member("saltSeparator", Data(parameters.saltSeparator).base64EncodedString())
            member("rounds", number: Int64(parameters.rounds))
            member("memoryCost", number: Int64(parameters.memoryCost))
        case .scrypt(let parameters):
            member("hashAlgorithm", "STANDARD_SCRYPT")
            member("cpuMemCost", number: Int64(parameters.cost))
            member("blockSize", number: Int64(parameters.blockSize))
            member("parallelization", number: Int64(parameters.parallelization))
            member("dkLen", number: Int64(parameters.length))
        case .bcrypt: member("hashAlgorithm", "BCRYPT")
        case .argon2(let parameters):
            member("hashAlgorithm", "ARGON2")
            object("argon2Parameters") { json in
                json.member("hashType", "ARGON2_\(parameters.variant.rawValue.uppercased())")
                json.member("version", parameters.version == .v10 ? "VERSION_10" : "VERSION_13")
                json.member("memoryCostKib", number: Int64(parameters.memory))
                json.member("iterations", number: Int64(parameters.iterations))
                json.member("parallelism", number: Int64(parameters.lanes))
                json.member("hashLengthBytes", number: Int64(parameters.length))
                if !key.isEmpty { json.member("associatedData", Data(key).base64EncodedString()) }
            }
            return
        case .pbkdf2(let digest, let rounds):
            member("hashAlgorithm", digest == .sha1 ? "PBKDF_SHA1" : "PBKDF2_\(digest.wireName)")
            member("rounds", number: Int64(rounds))
        case .digest(let digest, let rounds, let order):
            member("hashAlgorithm", digest.wireName)
            member("rounds", number: Int64(rounds))
            member("passwordHashOrder", order.wireName)
        case .hmac(let digest, let order):
            member("hashAlgorithm", "HMAC_\(digest.wireName)")
            member("passwordHashOrder", order.wireName)
        }
        // As Firebase's console shows it, which libraries such as firebase-scrypt read.
        if !key.isEmpty { member("signerKey", Data(key).base64EncodedString()) }
    }
}

extension PasswordAlgorithm.Order {
    fileprivate var wireName: String {
        switch self {
        case .saltAndPassword: "SALT_AND_PASSWORD"
        case .passwordAndSalt: "PASSWORD_AND_SALT"
        }
    }
}

extension PasswordAlgorithm.Digest {
    fileprivate var wireName: String { rawValue.uppercased() }
}

extension WireObject {
    /// A 32-bit number.
    fileprivate func number(_ name: String) throws(WireError) -> Int? {
        try int64(name).map { Int(clamping: $0) }
    }
}
