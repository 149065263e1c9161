package import Passwords
import Postgres

/// A password hash as its three columns hold it.
package struct StoredPassword: Sendable, Hashable {
    package var hash: PasswordHash

    package init(hash: PasswordHash) { self.hash = hash }

    static func decode(_ row: inout PostgresRow) throws -> StoredPassword? {
        let hash: [UInt8]? = try row.next()
        let salt: [UInt8]? = try row.next()
        let parameters: String? = try row.next()
        guard let hash, let salt, let parameters, let scrypt = ScryptParameters(text: parameters) else { return nil }
        return StoredPassword(hash: PasswordHash(salt: salt, hash: hash, parameters: scrypt))
    }
}

extension ScryptParameters {
    /// `scrypt:<rounds>:<memory cost>:<salt separator, hexadecimal>`.
    var text: String {
        "scrypt:\(rounds):\(memoryCost):\(saltSeparator.map { String($0, radix: 16) }.joined(separator: "."))"
    }

    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "scrypt", let rounds = Int(parts[1]), let memoryCost = Int(parts[2]) else {
            return nil
        }
        let separator = parts[3].split(separator: ".").compactMap { UInt8($0, radix: 16) }
        self.init(rounds: rounds, memoryCost: memoryCost, saltSeparator: separator)
    }
}
