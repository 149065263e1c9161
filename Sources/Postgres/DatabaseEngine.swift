/// What kind of server a client's statements are for.
package enum DatabaseEngine: String, Sendable, CaseIterable {
    case postgresql
    /// PostgreSQL with Citus, which spreads tables over machines by project.
    case citus
}
