import Postgres
import Projects
import struct Foundation.Date

/// Which project the rows of a statement belong to: that of its one request, or that of each request that shares it.
///
/// A distributed database finds the machine of a row by the value that its `project` is compared with, and a statement runs
/// on one machine if every comparison names the same one; so a statement of one project says it everywhere.
enum Placement: Sendable {
    case ofEachRow
    case of(ProjectID)

    /// The project of all requests, unless they may be of several.
    init(_ requests: [Scope], shared: Bool) {
        self = shared ? .ofEachRow : requests.first.map { .of($0.project) } ?? .ofEachRow
    }

    /// What a column `project` is compared with, by the name of the row whose project is meant.
    func project(of row: SQL) -> SQL {
        switch self {
        case .ofEachRow: "\(sql: row).project"
        case .of(let project): "\(project.rawValue)"
        }
    }
}

extension Placement {
    /// A further condition on a row's own project, if all rows are to be of one.
    func condition(on row: SQL) -> SQL {
        switch self {
        case .ofEachRow: ""
        case .of(let project): "AND \(sql: row).project = \(project.rawValue)"
        }
    }

    /// Where a job finds its rows: everywhere at once, or by their projects on the machines of a distributed database.
    ///
    /// - Parameter rows: a table with the condition on them.
    static func all(in rows: SQL, _ database: PostgresClient) async throws -> [Placement] {
        guard database.engine == .citus else { return [.ofEachRow] }
        return try await database.query("SELECT DISTINCT project FROM \(sql: rows)") { row in
            ProjectID(rawValue: try row.next())
        }.compactMap { $0.map { .of($0) } }
    }
}

extension SQL {
    /// A point in time so many seconds after another.
    ///
    /// `+ make_interval(…)` depends on the session's time zone as far as a server knows, and Citus takes no such expression
    /// in an assignment.
    static func later(than moment: SQL, by seconds: SQL) -> SQL {
        "to_timestamp(date_part('epoch', \(sql: moment) - 'epoch'::timestamptz) + \(sql: seconds))"
    }
}
