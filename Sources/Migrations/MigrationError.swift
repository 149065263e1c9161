package import Postgres

/// Why the schema cannot be migrated to this release.
package enum MigrationError: Error, CustomStringConvertible {
    /// The database has migrations that this program does not know: a newer release has migrated it.
    case databaseIsNewer(unknown: [String])
    /// The database has another migration where this program has `expected`.
    case diverged(expected: String, found: String)
    /// The database has some of the migrations that one replaced, up to `found`, but not `last`.
    case unfinished(found: String, last: String)
    /// It has all of them, but not their schema.
    case changed
    /// The program's own list is not in the order of its names.
    case unordered(String)
    /// A migration outside a transaction needs a second connection besides the one that holds the lock.
    case tooFewConnections
    /// Another program has been migrating for longer than this one waits.
    case locked
    /// The tables are to be spread in a database without Citus.
    case noCitus
    /// A migration failed; one in a transaction changed nothing.
    case failed(step: String, PostgresError)

    package var description: String {
        switch self {
        case .databaseIsNewer(let unknown):
            "the database is newer than this program: \(unknown.joined(separator: ", "))"
        case .diverged(let expected, let found):
            "the database has the migration \(found) where this program has \(expected)"
        case .unfinished(let found, let last):
            "the database ends with the migration \(found) of before the first release: migrate it up to \(last) with a "
                + "program that has that, then with this one"
        case .changed:
            "the tables beside schema_migrations are not those that its migrations make: compare `pg_dump -s` with that of a "
                + "new database"
        case .unordered(let name): "the migration \(name) is not in the order of the names"
        case .tooFewConnections: "migrating needs two connections"
        case .locked: "another program is migrating this database"
        case .noCitus: "the database has no Citus: CREATE EXTENSION citus"
        case .failed(let step, let error): "the migration \(step) failed: \(error.explanation)"
        }
    }
}
