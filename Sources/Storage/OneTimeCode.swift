import Postgres
import Projects

/// A code that a change uses up, by the hash that names its row.
package enum OneTimeCode: Sendable {
    /// Of a mail.
    case mail([UInt8])
    /// Of an SMS: the hash of its session.
    case sms([UInt8])

    /// The statement that ends the code: who gets no row of it came too late.
    ///
    /// - Parameter condition: more that must hold.
    func spending(_ scope: Scope, if condition: SQL = "true") -> SQL {
        let (table, column, hash): (SQL, SQL, [UInt8]) =
            switch self {
            case .mail(let hash): ("oob_codes", "code_hash", hash)
            case .sms(let hash): ("verification_codes", "session_hash", hash)
            }
        return """
            DELETE FROM \(sql: table) WHERE project = \(scope.project.rawValue) AND \(sql: column) = \(hash)
                AND \(sql: scope.tenantFits) AND \(sql: condition) RETURNING \(sql: column)
            """
    }
}

extension Scope {
    /// The condition on the tenant of a row that its hash finds, in a form that no index serves.
    ///
    /// Otherwise a planner that has no statistics of the table yet may take the primary key, which begins with project and
    /// tenant, and read every code of the project.
    var tenantFits: SQL { "tenant IS NOT DISTINCT FROM \(tenant.rawValue)" }
}
