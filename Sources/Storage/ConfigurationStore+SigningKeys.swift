import Foundation
import Postgres
import Secrets
import Sessions

extension ConfigurationStore {
    /// Makes the first keys, one for each purpose and algorithm, if nobody made them yet.
    ///
    /// The version row's lock lets one of several nodes that start at once do it.
    package func ensureSigningKeys() async throws {
        try await load()
        let missing = SigningPurpose.allCases.flatMap { purpose in
            purpose.algorithms.filter { signingKeys(for: purpose).signer(for: $0) == nil }.map { (purpose, $0) }
        }
        guard !missing.isEmpty else { return }
        let date = now()
        let start = Int64(date.timeIntervalSince1970)
        // Generated before the lock is taken: an RSA key takes a while.
        let keys = try missing.map { purpose, algorithm in
            let key = try SigningKey.generate(
                algorithm,
                notBefore: start - 86_400,
                notAfter: start + Self.certificateLifetime
            )
            return (purpose: purpose, key: key)
        }
        try await database.transaction { [self] transaction in
            try await transaction.execute("UPDATE configuration SET version = version + 1")
            let present = try await transaction.query(
                "SELECT purpose, algorithm FROM signing_keys WHERE retired_at IS NULL"
            ) { row in [try row.next(String.self), try row.next(String.self)] }
            for (purpose, key) in keys where !present.contains([purpose.rawValue, key.algorithm.rawValue]) {
                let sealed = try keyRing.seal(try key.privateKeyDER(), for: Self.keyPlace(key.kid))
                let entry = AuditEntry(.signingKeyCreated, in: nil, resource: key.kid, at: date)
                try await transaction.execute(
                    """
                    \(sql: AuditEntry.before([entry]))
                    INSERT INTO signing_keys (kid, purpose, algorithm, private_key, certificate, created_at, active_from)
                    VALUES (\(key.kid), \(purpose.rawValue), \(key.algorithm.rawValue), \(sealed),
                        \(key.certificatePEM), \(date), \(date))
                    """
                )
            }
        }
        try await load()
    }

    /// The keys of each purpose, the one that signs first.
    func readSigningKeys() async throws -> [SigningPurpose: SigningKeys] {
        let rows = try await database.query(
            """
            SELECT purpose, kid, algorithm, private_key, certificate FROM signing_keys
            ORDER BY retired_at IS NOT NULL, active_from, kid
            """
        ) { row in
            (
                purpose: SigningPurpose(rawValue: try row.next()), kid: try row.next(String.self),
                algorithm: try row.next(String.self), sealed: try row.next([UInt8].self),
                certificate: try row.next(String.self)
            )
        }
        var keys: [SigningPurpose: [SigningKey]] = [:]
        for row in rows {
            guard let purpose = row.purpose, let algorithm = SigningAlgorithm(rawValue: row.algorithm) else {
                throw ConfigurationError.unreadable("signing key \(row.kid)")
            }
            // Loading an RSA key costs more than reading it: those that are loaded stay.
            let key =
                try signingKeys(for: purpose).key(row.kid)
                ?? SigningKey(
                    kid: row.kid,
                    algorithm: algorithm,
                    privateKey: try keyRing.open(row.sealed, for: Self.keyPlace(row.kid)),
                    certificatePEM: row.certificate
                )
            keys[purpose, default: []].append(key)
        }
        return keys.mapValues { SigningKeys($0) }
    }

    /// Ten years in seconds: keys end by rotation, not by their certificate.
    private static let certificateLifetime: Int64 = 10 * 365 * 86_400

    private static func keyPlace(_ kid: String) -> String { "signing_keys/\(kid)" }
}

/// What a key of the deployment signs; one that signs one thing verifies no other.
enum SigningPurpose: String, CaseIterable {
    case idToken = "id_token"
    case sessionCookie = "session_cookie"

    /// Admin SDKs verify cookies with RS256 alone, whatever a project chose for its ID tokens.
    var algorithms: [SigningAlgorithm] {
        switch self {
        case .idToken: [.rs256, .es256]
        case .sessionCookie: [.rs256]
        }
    }
}
