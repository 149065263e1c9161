import Postgres
import Storage
import Synchronization

import struct Foundation.Date

/// The first signing keys of a database, copied from the first database of the run: to make RSA keys takes a core for
/// up to half a second each.
enum FirstSigningKeys {
    /// Rows of the table as JSON.
    private static let rows = Mutex<String?>(nil)

    /// Gives a database that has no keys those of the run, as if they were made now.
    static func put(into database: PostgresClient, at now: Date) async throws {
        let versions = try await database.query(
            "SELECT version FROM configuration WHERE NOT EXISTS (SELECT FROM signing_keys)"
        ) { try $0.next(Int64.self) }
        guard let version = versions.first, let rows = rows.withLock({ $0 }) else { return }
        // Of several services that begin together one does it, as in `ConfigurationStore`.
        try await database.execute(
            """
            WITH turn AS (
                UPDATE configuration SET version = version + 1 WHERE version = \(version) RETURNING version
            )
            INSERT INTO signing_keys
            SELECT k.* FROM turn, jsonb_populate_recordset(NULL::signing_keys, (
                SELECT jsonb_agg(r || jsonb_build_object(
                    'created_at', \(now)::timestamptz, 'active_from', \(now)::timestamptz
                )) FROM jsonb_array_elements(\(rows)::jsonb) r
            )) k
            """
        )
    }

    /// Keeps the keys of a database that has its first ones.
    static func keep(of database: PostgresClient) async throws {
        guard rows.withLock({ $0 == nil }) else { return }
        let made = try await database.query(
            """
            SELECT jsonb_agg(to_jsonb(k))::text FROM signing_keys k
            HAVING count(*) = count(DISTINCT (purpose, algorithm)) AND count(*) > 0
            """
        ) { try $0.next(String.self) }
        rows.withLock { $0 = $0 ?? made.first }
    }
}
