import Postgres
import Projects

import struct Foundation.Date

/// A code that a change uses, by the hash that identifies its row.
package struct OneTimeCode: Sendable {
    package enum Kind: Sendable {
        case mail
        case sms
    }

    package let kind: Kind
    package let hash: [UInt8]

    /// A code from an email.
    package static func mail(_ hash: [UInt8]) -> OneTimeCode { OneTimeCode(kind: .mail, hash: hash) }

    /// A code from an SMS, by the hash of its session.
    package static func sms(_ hash: [UInt8]) -> OneTimeCode { OneTimeCode(kind: .sms, hash: hash) }

    /// The statement that uses the code, `code` in others: it returns no row if another request was first.
    func spending(_ scope: Scope) -> SQL {
        """
        DELETE FROM \(sql: kind.table) WHERE project = \(scope.project.rawValue) AND \(sql: kind.column) = \(hash)
            AND \(sql: scope.tenantFits)
        RETURNING project, tenant, \(sql: kind.purpose) AS purpose, owner, created_at
        """
    }

    /// Uses the code, and ends the owner's older ones, which may have been read by others.
    ///
    /// - Throws: ``SpentCode``.
    func spend(_ scope: Scope, _ transaction: PostgresTransaction) async throws {
        let spent = try await transaction.query(spending(scope)) { row in
            (
                project: try row.next(String.self), tenant: try row.next(String.self),
                purpose: try row.next(String.self),
                owner: try row.next(String.self), createdAt: try row.next(Date.self)
            )
        }
        guard let code = spent.first else { throw SpentCode(code: self) }
        transaction.write(
            """
            DELETE FROM \(sql: kind.table)
            WHERE project = \(code.project) AND tenant = \(code.tenant) AND \(sql: kind.purpose) = \(code.purpose)
                AND owner = \(code.owner) AND created_at < \(code.createdAt)
            """
        )
    }

    /// The parts of a statement that use the code and end the owner's older ones, which may have been read by others.
    func parts(_ scope: Scope) -> SQL {
        "code AS (\(sql: spending(scope))), older AS (\(sql: kind.endingOlder))"
    }
}

extension OneTimeCode.Kind {
    var table: SQL {
        switch self {
        case .mail: "oob_codes"
        case .sms: "verification_codes"
        }
    }

    var purpose: SQL {
        switch self {
        case .mail: "type"
        case .sms: "purpose"
        }
    }

    /// Ends the codes that were sent to the owners of `code` before, for the same purpose.
    var endingOlder: SQL {
        """
        DELETE FROM \(sql: table) c USING code k
        WHERE c.project = k.project AND c.tenant = k.tenant AND c.\(sql: purpose) = k.purpose AND c.owner = k.owner
            AND c.created_at < k.created_at
        """
    }

    /// The column that identifies a code.
    var column: SQL {
        switch self {
        case .mail: "code_hash"
        case .sms: "session_hash"
        }
    }
}

extension Scope {
    /// A condition on the project and tenant of a statement's only rows.
    var isOfRow: SQL { "project = \(project.rawValue) AND tenant = \(tenant.rawValue)" }

    /// The condition on the tenant of a row found by its hash, in a form that no index serves.
    ///
    /// Otherwise a planner without statistics of the table may use the primary key, which starts with project and
    /// tenant, and read every code of the project.
    var tenantFits: SQL { "tenant IS NOT DISTINCT FROM \(tenant.rawValue)" }
}
