import Postgres
import Projects

/// A code that a change uses up, by the hash that names its row.
package struct OneTimeCode: Sendable {
    package enum Kind: Sendable {
        case mail
        case sms
    }

    package let kind: Kind
    package let hash: [UInt8]

    /// Of a mail.
    package static func mail(_ hash: [UInt8]) -> OneTimeCode { OneTimeCode(kind: .mail, hash: hash) }

    /// Of an SMS: the hash of its session.
    package static func sms(_ hash: [UInt8]) -> OneTimeCode { OneTimeCode(kind: .sms, hash: hash) }

    /// The statement that ends the code: who gets no row of it came too late.
    func spending(_ scope: Scope) -> SQL {
        """
        DELETE FROM \(sql: kind.table) WHERE project = \(scope.project.rawValue) AND \(sql: kind.column) = \(hash)
            AND \(sql: scope.tenantFits) RETURNING \(sql: kind.column)
        """
    }
}

extension OneTimeCode.Kind {
    var table: SQL {
        switch self {
        case .mail: "oob_codes"
        case .sms: "verification_codes"
        }
    }

    /// By which a code is found.
    var column: SQL {
        switch self {
        case .mail: "code_hash"
        case .sms: "session_hash"
        }
    }
}

extension Scope {
    /// The condition on the tenant of a row that its hash finds, in a form that no index serves.
    ///
    /// Otherwise a planner that has no statistics of the table yet may take the primary key, which begins with project and
    /// tenant, and read every code of the project.
    var tenantFits: SQL { "tenant IS NOT DISTINCT FROM \(tenant.rawValue)" }
}
