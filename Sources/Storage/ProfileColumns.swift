import Domain
import Postgres

/// The columns of a profile in one table, in the order of ``Profile/fields``.
struct ProfileColumns: Sendable {
    static let account = ProfileColumns(fields: Profile.ofAccounts)
    static let identity = ProfileColumns(fields: Profile.ofIdentities)

    private let fields: [Profile.Field]

    var names: SQL { list { "\(raw: $0.column)" } }

    /// - Parameter prefix: of every name: `a.` for a table.
    func names(_ prefix: StaticString) -> SQL { list { "\(raw: prefix)\(raw: $0.column)" } }

    func values(_ profile: Profile) -> SQL { list { "\(profile[$0])" } }

    /// Assignments of an `UPDATE`.
    func setting(_ profile: Profile) -> SQL { list { "\(raw: $0.column) = \(profile[$0])" } }

    /// An array for each column.
    func arrays(_ profiles: [Profile]) -> SQL { list { field in "\(profiles.map { $0[field] })::text[]" } }

    func decode(_ row: inout PostgresRow) throws -> Profile {
        var profile = Profile()
        for field in fields { profile[field] = try row.next() }
        return profile
    }

    private func list(_ part: (Profile.Field) -> SQL) -> SQL {
        SQL.list(fields.map(part))
    }
}
