package import Foundation
package import Passwords
import Postgres
package import Projects
import Secrets

/// A password hash as stored in an account's columns, with the configuration of an imported hash.
package struct StoredPassword: Sendable, Hashable {
    package var hash: PasswordHash

    package init(hash: PasswordHash) { self.hash = hash }

    /// The value of `password_parameters`: the parameters of the project's algorithm, or the ID of a configuration.
    var parameters: String {
        switch hash.origin {
        case .project(let parameters): parameters.text
        case .imported(let configuration): configuration.id
        }
    }

    /// For a statement that reads an account `a`; includes the configuration.
    static let columns: SQL = "a.password_hash, a.password_salt, a.password_parameters, k.algorithm, k.sealed_key"

    static let joins: SQL = """
        LEFT JOIN password_configurations k ON k.project = a.project AND k.id = a.password_parameters
        """

    static func decode(_ row: inout PostgresRow, of project: ProjectID, _ keyRing: KeyRing) throws -> StoredPassword? {
        var known: [String: PasswordConfiguration] = [:]
        return try decode(&row, of: project, keyRing, &known)
    }

    /// - Parameter known: configurations by ID, which many rows share.
    static func decode(
        _ row: inout PostgresRow,
        of project: ProjectID,
        _ keyRing: KeyRing,
        _ known: inout [String: PasswordConfiguration]
    ) throws -> StoredPassword? {
        let hash: [UInt8]? = try row.next()
        let salt: [UInt8]? = try row.next()
        let parameters: String? = try row.next()
        let algorithm: String? = try row.next()
        let sealedKey: [UInt8]? = try row.next()
        guard let hash, let salt, let parameters else { return nil }
        if let algorithm {
            let place = PasswordConfiguration.place(parameters, of: project)
            let configuration =
                try known[parameters]
                ?? PasswordConfiguration(
                    id: parameters,
                    algorithm: try JSONDecoder().decode(PasswordAlgorithm.self, from: Data(algorithm.utf8)),
                    key: try sealedKey.map { try keyRing.open($0, for: place) } ?? []
                )
            known[parameters] = configuration
            return StoredPassword(hash: PasswordHash(salt: salt, hash: hash, origin: .imported(configuration)))
        }
        guard let scrypt = ScryptParameters(text: parameters) else { return nil }
        return StoredPassword(hash: PasswordHash(salt: salt, hash: hash, parameters: scrypt))
    }
}

extension AccountStore {
    /// Stores the algorithm of hashes that are about to be imported, under the newest encryption key.
    package func keep(_ configuration: PasswordConfiguration, of project: ProjectID, now: Date) async throws {
        let algorithm = String(decoding: try JSONEncoder().encode(configuration.algorithm), as: UTF8.self)
        let place = PasswordConfiguration.place(configuration.id, of: project)
        let key = configuration.key.isEmpty ? nil : try keyRing.seal(configuration.key, for: place)
        try await database.execute(
            """
            INSERT INTO password_configurations (project, id, algorithm, sealed_key, created_at)
            VALUES (\(project.rawValue), \(configuration.id), \(algorithm), \(key), \(now))
            ON CONFLICT (project, id) DO UPDATE SET sealed_key = EXCLUDED.sealed_key
            """
        )
    }
}

extension PasswordConfiguration {
    fileprivate static func place(_ id: String, of project: ProjectID) -> String {
        "password_configurations/\(project.rawValue)/\(id)"
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
