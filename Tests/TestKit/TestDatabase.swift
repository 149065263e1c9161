package import Postgres

/// The database of the suite that runs, made for it and dropped after it.
package struct TestDatabase: Sendable {
    /// For a program that connects by itself.
    package let conninfo: String
    package let client: PostgresClient

    @TaskLocal static var scoped: TestDatabase?

    /// The database of the suite or test with the trait `.database`.
    package static var current: TestDatabase {
        guard let scoped else { preconditionFailure("the suite lacks the trait .database") }
        return scoped
    }
}
