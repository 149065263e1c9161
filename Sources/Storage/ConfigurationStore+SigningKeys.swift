import Foundation
import Logging
import Postgres
import Secrets
import Projects
package import Sessions

extension ConfigurationStore {
    /// Creates the first keys, one for each purpose and algorithm, if there are none.
    package func ensureSigningKeys() async throws {
        try await load()
        try await rotateSigningKeys(every: nil)
    }

    /// Publishes next keys and removes expired ones; usually nothing is due and the database is not queried.
    ///
    /// - Parameter period: how long a key signs, in seconds; nil for no rotation.
    @discardableResult
    package func rotateSigningKeys(every period: Int64?) async throws -> SigningKeyTimeline.Change {
        try await changeSigningKeys { $0.due(at: $1, every: period) }
    }

    /// Publishes a next key for each purpose and algorithm that has none.
    package func publishNextSigningKeys() async throws {
        try await changeSigningKeys { $0.rotation(at: $1) }
    }

    /// Revokes a key immediately.
    ///
    /// Every node refuses its tokens as soon as it sees the change, within half a second.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func revokeSigningKey(_ kid: String) async throws {
        try await changeSigningKeys { timeline, now in
            guard let change = timeline.revocation(of: kid, at: now) else { throw ConfigurationError.notFound }
            return change
        }
    }

    /// Plans a change from the keys as this node knows them, and applies it if no key changed since.
    ///
    /// Otherwise it plans again, so only one of several nodes with the same plan applies it. Changes of other configuration
    /// do not matter: whoever makes them all the time must not keep a key from being revoked.
    @discardableResult
    private func changeSigningKeys(
        _ plan: (SigningKeyTimeline, Int64) throws -> SigningKeyTimeline.Change
    ) async throws -> SigningKeyTimeline.Change {
        var made: [SigningKeyTimeline.Slot: SigningKey] = [:]
        while true {
            let seconds = Int64(now().timeIntervalSince1970)
            let timeline = signingKeyTimeline
            let change = try plan(timeline, seconds)
            guard !change.isEmpty else { return change }
            for slot in change.made.keys where made[slot] == nil {
                made[slot] = try await LowPriorityThread.run {
                    try SigningKey.generate(
                        slot.algorithm,
                        notBefore: seconds - 86_400,
                        notAfter: seconds + Self.certificateLifetime
                    )
                }
            }
            let isDone = try await apply(change, made, to: timeline, Date(timeIntervalSince1970: Double(seconds)))
            try await load()
            guard isDone else { continue }
            logger.notice(
                "Signing keys changed",
                metadata: [
                    "published": "\(change.made.keys.compactMap { made[$0]?.kid }.sorted())",
                    "promoted": "\(change.promoted)", "erased": "\(change.erased)", "removed": "\(change.removed)",
                ]
            )
            return change
        }
    }

    /// - Returns: whether the keys were still these; otherwise nothing has changed.
    private func apply(
        _ change: SigningKeyTimeline.Change,
        _ made: [SigningKeyTimeline.Slot: SigningKey],
        to timeline: SigningKeyTimeline,
        _ date: Date
    ) async throws -> Bool {
        let new = try change.made.compactMap { slot, activeFrom in
            try made[slot].map { key in
                (
                    key: key, slot: slot, activeFrom: Date(timeIntervalSince1970: Double(activeFrom)),
                    sealed: try keyRing.seal(try key.privateKeyDER(), for: Self.keyPlace(key.kid))
                )
            }
        }
        return try await database.transaction { transaction in
            // Every change of keys locks it first.
            try await transaction.execute("SELECT FROM configuration FOR UPDATE")
            guard try await Self.readSigningKeyRows(transaction).map(\.date) == timeline.keys else { return false }
            for (action, keys) in [
                (AuditAction.signingKeyCreated, new.map(\.key.kid)), (.signingKeyRemoved, change.removed),
            ] {
                for kid in keys {
                    transaction.write(AuditEntry(action, in: nil, resource: kid, at: date).insertion())
                }
            }
            transaction.write("DELETE FROM signing_keys WHERE kid = ANY (\(change.removed))")
            transaction.write("UPDATE signing_keys SET private_key = NULL WHERE kid = ANY (\(change.erased))")
            transaction.write("UPDATE signing_keys SET active_from = \(date) WHERE kid = ANY (\(change.promoted))")
            for made in new {
                transaction.write(
                    """
                    INSERT INTO signing_keys (kid, purpose, algorithm, private_key, certificate, created_at, active_from)
                    VALUES (\(made.key.kid), \(made.slot.purpose.rawValue), \(made.slot.algorithm.rawValue),
                        \(made.sealed), \(made.key.certificatePEM), \(date), \(made.activeFrom))
                    """
                )
            }
            transaction.write(Self.nextVersion)
            return true
        }
    }

    /// A stored key.
    private struct SigningKeyRow {
        var date: SigningKeyTimeline.Key
        var sealed: [UInt8]?
        var certificate: String
    }

    private static func readSigningKeyRows(_ executor: some PostgresExecutor) async throws -> [SigningKeyRow] {
        try await executor.query(
            """
            SELECT purpose, kid, algorithm, private_key, certificate, created_at, active_from FROM signing_keys
            ORDER BY active_from, kid
            """
        ) { row in
            let purpose = SigningPurpose(rawValue: try row.next())
            let kid: String = try row.next()
            guard let purpose, let algorithm = SigningAlgorithm(rawValue: try row.next()) else {
                throw ConfigurationError.unreadable("signing key \(kid)")
            }
            let (sealed, certificate): ([UInt8]?, String) = (try row.next(), try row.next())
            let (createdAt, activeFrom): (Date, Date) = (try row.next(), try row.next())
            let date = SigningKeyTimeline.Key(
                kid: kid,
                slot: SigningKeyTimeline.Slot(purpose: purpose, algorithm: algorithm),
                createdAt: Int64(createdAt.timeIntervalSince1970),
                activeFrom: Int64(activeFrom.timeIntervalSince1970),
                signs: sealed != nil
            )
            return SigningKeyRow(date: date, sealed: sealed, certificate: certificate)
        }
    }

    /// The keys of each purpose in the order in which they sign, and all dates.
    func readSigningKeys() async throws -> (keys: [SigningPurpose: SigningKeys], timeline: SigningKeyTimeline) {
        let rows = try await Self.readSigningKeyRows(database)
        var entries: [SigningPurpose: [SigningKeys.Entry]] = [:]
        for row in rows {
            let (kid, slot) = (row.date.kid, row.date.slot)
            // Loading an RSA key costs more than reading the row, so loaded keys are reused.
            let known = signingKeys(for: slot.purpose).key(kid).flatMap { $0.signs == row.date.signs ? $0 : nil }
            let key =
                try known
                ?? SigningKey(
                    kid: kid,
                    algorithm: slot.algorithm,
                    privateKey: try row.sealed.map { try keyRing.open($0, for: Self.keyPlace(kid)) },
                    certificatePEM: row.certificate
                )
            entries[slot.purpose, default: []].append(SigningKeys.Entry(key, activeFrom: row.date.activeFrom))
        }
        return (entries.mapValues { SigningKeys($0) }, SigningKeyTimeline(rows.map(\.date)))
    }

    /// Ten years in seconds: keys expire by rotation, not by their certificate.
    private static let certificateLifetime: Int64 = 10 * 365 * 86_400

    static func keyPlace(_ kid: String) -> String { "signing_keys/\(kid)" }
}
