package import Postgres
package import Secrets

/// Which keys of the ring have sealed values, and the move to a new key.
package struct KeyRingStore: Sendable {
    private let database: PostgresClient
    private let keyRing: KeyRing

    package init(database: PostgresClient, keyRing: KeyRing) {
        self.database = database
        self.keyRing = keyRing
    }

    /// The number of values that each key sealed, by key ID; reads every sealed value in batches of rows.
    package func usage(batch: Int = Self.usageBatch) async throws -> [String: Int] {
        try await usage(of: SealedColumn.all, batch: batch)
    }

    package static let usageBatch = 2000

    /// IDs, sorted, of keys that the ring lacks although they sealed configuration that nodes cannot work without.
    package func missingKeys() async throws -> [String] {
        let usage = try await usage(of: SealedColumn.all.filter(\.isConfiguration), batch: Self.usageBatch)
        return Set(usage.keys).subtracting(keyRing.ids).sorted()
    }

    private func usage(of columns: [SealedColumn], batch: Int) async throws -> [String: Int] {
        var usage: [String: Int] = [:]
        for column in columns {
            var place: [String]? = column.start
            while let after = place {
                let counts = try await unhurried { try await count(column, after: after, limit: batch) }
                for (id, count) in counts.ids { usage[id, default: 0] += count }
                place = counts.last
            }
        }
        return usage
    }

    /// Counts the values of a batch of rows by key, and returns the last row; nil if there are no more.
    private func count(
        _ column: SealedColumn,
        after place: [String],
        limit: Int
    ) async throws -> (ids: [(String, Int)], last: [String]?) {
        let rows = try await database.query(
            """
            WITH page AS MATERIALIZED (\(sql: column.rows(after: place, limit: limit)))
            SELECT convert_from(substring(value FROM 3 FOR get_byte(value, 1)), 'UTF8') AS id, count(*), NULL::text[]
            FROM (\(sql: column.values(in: "page"))) sealed GROUP BY id
            UNION ALL (SELECT NULL, 0, \(sql: column.keyAsText) FROM page ORDER BY ROW(\(sql: column.keyNames)) DESC LIMIT 1)
            """
        ) { row in
            (id: try row.next(String?.self), count: Int(try row.next(Int64.self)), last: try row.next([String]?.self))
        }
        return (rows.compactMap { row in row.id.map { ($0, row.count) } }, rows.compactMap(\.last).first)
    }

    /// The results for a column's values.
    package struct Progress: Sendable {
        package var column: SealedColumn
        package var resealed = 0
        /// Values sealed for another row, or under a key that the ring lacks; they are not changed.
        package var unreadable = 0
        package var isDone = false
    }

    /// Reseals every value that another key than the first one sealed, some rows at a time.
    ///
    /// A value that is written concurrently stays as written. No state is kept between calls: an interrupted run can be
    /// repeated and skips what is done.
    ///
    /// - Parameters:
    ///   - batch: rows per statement.
    ///   - report: called after each batch.
    package func reseal(batch: Int = 200, _ report: (Progress) -> Void) async throws {
        for column in SealedColumn.all {
            var progress = Progress(column: column)
            var place: [String]? = column.start
            while let after = place {
                place = try await unhurried { try await reseal(column, after: after, limit: batch, &progress) }
                report(progress)
            }
            progress.isDone = true
            report(progress)
        }
    }

    /// - Returns: the last of the rows; nil if there are no more.
    private func reseal(
        _ column: SealedColumn,
        after place: [String],
        limit: Int,
        _ progress: inout Progress
    ) async throws -> [String]? {
        let rows = try await database.query(
            """
            WITH page AS MATERIALIZED (\(sql: column.rows(after: place, limit: limit)))
            SELECT \(sql: column.keyAsText), \(sql: column.bytes) FROM page WHERE \(sql: column.isDue(keyRing.prefix))
            UNION ALL (SELECT \(sql: column.keyAsText), NULL FROM page ORDER BY ROW(\(sql: column.keyNames)) DESC LIMIT 1)
            """
        ) { row in (key: try row.next([String].self), value: try row.next([UInt8]?.self)) }
        var (keys, old, new): ([[String]], [[UInt8]], [[UInt8]]) = ([], [], [])
        for row in rows {
            guard let value = row.value else { continue }
            do {
                new.append(try column.resealed(value, of: row.key, under: keyRing))
                old.append(value)
                keys.append(row.key)
            } catch {
                progress.unreadable += 1
            }
        }
        progress.resealed += try await replace(column, keys, old, by: new)
        return rows.last { $0.value == nil }?.key
    }

    /// - Returns: the number of rows that still had the old value.
    private func replace(
        _ column: SealedColumn,
        _ keys: [[String]],
        _ old: [[UInt8]],
        by new: [[UInt8]]
    ) async throws -> Int {
        guard !keys.isEmpty else { return 0 }
        let names = Array(Self.names.prefix(column.key.count))
        let arrays = SQL.list(names.indices.map { index in "\(keys.map { $0[index] })::text[]" })
        let match = zip(column.key, names).map { key, name -> SQL in
            "t.\(sql: key.name) = \(sql: key.value("n.\(sql: name)"))"
        }
        return try await database.execute(
            """
            UPDATE \(sql: column.table) t SET \(sql: column.assignment("n.new"))
            FROM unnest(\(sql: arrays), \(old)::bytea[], \(new)::bytea[]) n (\(sql: SQL.list(names)), old, new)
            WHERE \(sql: SQL.list(match, " AND ")) AND \(sql: column.bytes) = n.old
            """
        )
    }

    private static let names: [SQL] = ["k1", "k2", "k3", "k4"]
}
