package import Postgres
package import Secrets

/// What the keys of the ring have sealed, and its way from one key to the next.
package struct KeyRingStore: Sendable {
    private let database: PostgresClient
    private let keyRing: KeyRing

    package init(database: PostgresClient, keyRing: KeyRing) {
        self.database = database
        self.keyRing = keyRing
    }

    /// How many values each key sealed, by its id; reads every sealed value.
    package func usage() async throws -> [String: Int] { try await usage(of: SealedColumn.all) }

    /// Keys that the ring lacks though configuration without which nodes serve nothing is sealed by them, sorted by their
    /// ids.
    package func missingKeys() async throws -> [String] {
        let usage = try await usage(of: SealedColumn.all.filter(\.isConfiguration))
        return Set(usage.keys).subtracting(keyRing.ids).sorted()
    }

    private func usage(of columns: [SealedColumn]) async throws -> [String: Int] {
        var usage: [String: Int] = [:]
        for column in columns {
            let counts = try await database.query(
                """
                SELECT convert_from(substring(value FROM 3 FOR get_byte(value, 1)), 'UTF8') AS id, count(*)
                FROM (\(sql: column.values)) sealed GROUP BY id
                """
            ) { row in (id: try row.next(String.self), count: Int(try row.next(Int64.self))) }
            for (id, count) in counts { usage[id, default: 0] += count }
        }
        return usage
    }

    /// What became of the values of a column.
    package struct Progress: Sendable {
        package var column: SealedColumn
        package var resealed = 0
        /// Made for another row, or under a key that the ring lacks: they stay as they are.
        package var unreadable = 0
        package var isDone = false
    }

    /// Seals every value anew that another key than the first one sealed, some rows at a time.
    ///
    /// A value that somebody writes meanwhile stays as it was written. Nothing is remembered between calls: one that was
    /// broken off is begun again, and passes over what is done.
    /// - Parameter report: is told after each batch.
    package func reseal(batch: Int = 200, _ report: (Progress) -> Void) async throws {
        for column in SealedColumn.all {
            var progress = Progress(column: column)
            var place = [String](repeating: "", count: column.key.count)
            while true {
                let rows = try await due(column, after: place, limit: batch)
                guard let last = rows.last else { break }
                place = last.key
                var (keys, old, new): ([[String]], [[UInt8]], [[UInt8]]) = ([], [], [])
                for row in rows {
                    do {
                        new.append(try column.resealed(row.value, of: row.key, under: keyRing))
                        old.append(row.value)
                        keys.append(row.key)
                    } catch {
                        progress.unreadable += 1
                    }
                }
                progress.resealed += try await replace(column, keys, old, by: new)
                report(progress)
            }
            progress.isDone = true
            report(progress)
        }
    }

    private func due(
        _ column: SealedColumn,
        after place: [String],
        limit: Int
    ) async throws -> [(key: [String], value: [UInt8])] {
        let width = column.key.count
        let names = Self.list(column.key.map(\.name))
        let bounds = Self.list(zip(column.key, place).map { key, text in key.value("\(text)::text") })
        return try await database.query(
            """
            SELECT \(sql: Self.list(column.key.map(\.selected))), \(sql: column.bytes) FROM \(sql: column.table)
            WHERE (\(sql: names)) > (\(sql: bounds)) AND \(sql: column.isDue(keyRing.prefix))
            ORDER BY \(sql: names) LIMIT \(limit)
            """
        ) { row in
            let key = try (0..<width).map { _ in try row.next(String.self) }
            return (key: key, value: try row.next([UInt8].self))
        }
    }

    /// - Returns: in how many rows the old value still stood.
    private func replace(
        _ column: SealedColumn,
        _ keys: [[String]],
        _ old: [[UInt8]],
        by new: [[UInt8]]
    ) async throws -> Int {
        guard !keys.isEmpty else { return 0 }
        let names = Array(Self.names.prefix(column.key.count))
        let arrays = Self.list(names.indices.map { index in "\(keys.map { $0[index] })::text[]" })
        let match = zip(column.key, names).map { key, name -> SQL in
            "t.\(sql: key.name) = \(sql: key.value("n.\(sql: name)"))"
        }
        return try await database.execute(
            """
            UPDATE \(sql: column.table) t SET \(sql: column.assignment("n.new"))
            FROM unnest(\(sql: arrays), \(old)::bytea[], \(new)::bytea[]) n (\(sql: Self.list(names)), old, new)
            WHERE \(sql: Self.list(match, " AND ")) AND \(sql: column.bytes) = n.old
            """
        )
    }

    private static let names: [SQL] = ["k1", "k2", "k3", "k4"]

    private static func list(_ parts: [SQL], _ separator: SQL = ", ") -> SQL {
        parts.dropFirst().reduce(parts[0]) { "\(sql: $0)\(sql: separator)\(sql: $1)" }
    }
}
