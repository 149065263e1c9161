import Foundation
import Postgres
import Secrets
import Sessions

extension ConfigurationStore {
    /// Makes the first ID-token keys, one for each algorithm, if nobody made them yet.
    ///
    /// The version row's lock lets one of several nodes that start at once do it.
    package func ensureSigningKeys() async throws {
        try await load()
        let missing = [SigningAlgorithm.rs256, .es256].filter { signingKeys.signer(for: $0) == nil }
        guard !missing.isEmpty else { return }
        let date = now()
        let start = Int64(date.timeIntervalSince1970)
        // Generated before the lock is taken: an RSA key takes a while.
        let keys = try missing.map { algorithm in
            try SigningKey.generate(algorithm, notBefore: start - 86_400, notAfter: start + Self.certificateLifetime)
        }
        try await database.transaction { [self] transaction in
            try await transaction.execute("UPDATE configuration SET version = version + 1")
            let present = try await transaction.query(
                "SELECT algorithm FROM signing_keys WHERE purpose = 'id_token' AND retired_at IS NULL"
            ) { try $0.next(String.self) }
            for key in keys where !present.contains(key.algorithm.rawValue) {
                let sealed = try keyRing.seal(try key.privateKeyDER(), for: Self.keyPlace(key.kid))
                try await transaction.execute(
                    """
                    INSERT INTO signing_keys (kid, purpose, algorithm, private_key, certificate, created_at, active_from)
                    VALUES (\(key.kid), 'id_token', \(key.algorithm.rawValue), \(sealed), \(key.certificatePEM),
                        \(date), \(date))
                    """
                )
            }
        }
        try await load()
    }

    /// The ID-token keys, the one that signs first.
    func readSigningKeys() async throws -> SigningKeys {
        let rows = try await database.query(
            """
            SELECT kid, algorithm, private_key, certificate FROM signing_keys
            WHERE purpose = 'id_token' ORDER BY retired_at IS NOT NULL, active_from, kid
            """
        ) { row in
            (
                kid: try row.next(String.self), algorithm: try row.next(String.self),
                sealed: try row.next([UInt8].self), certificate: try row.next(String.self)
            )
        }
        // Loading an RSA key costs more than reading it: those that are loaded stay.
        let known = signingKeys
        return SigningKeys(
            try rows.map { row in
                if let key = known.key(row.kid) { return key }
                guard let algorithm = SigningAlgorithm(rawValue: row.algorithm) else {
                    throw ConfigurationError.unreadable("signing key \(row.kid)")
                }
                return try SigningKey(
                    kid: row.kid,
                    algorithm: algorithm,
                    privateKey: try keyRing.open(row.sealed, for: Self.keyPlace(row.kid)),
                    certificatePEM: row.certificate
                )
            }
        )
    }

    /// Ten years in seconds: keys end by rotation, not by their certificate.
    private static let certificateLifetime: Int64 = 10 * 365 * 86_400

    private static func keyPlace(_ kid: String) -> String { "signing_keys/\(kid)" }
}
