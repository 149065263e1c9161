import Foundation
import Postgres
package import Projects
package import Secrets

/// The digits beside a link.
extension OOBCodeStore {
    static let table = "oob_codes"

    /// Counts an attempt at the owner's digits and returns the result.
    ///
    /// The statement that finds the digits counts the attempt before anything is compared, so two simultaneous attempts
    /// never count as one. Decoys count too, and are never right.
    ///
    /// - Parameters:
    ///   - session: what the client that requested the email has.
    ///   - owner: see ``OOBCode/owner``.
    /// - Returns: nil if the owner has no such session, or its code was replaced or used.
    package func attempt(
        _ digits: Secret,
        session: Secret,
        for type: OOBCodeType,
        owner: String,
        in scope: Scope
    ) async throws -> TriedShortCode? {
        let session = SecureHash.sha256(session.reveal())
        let rows = try await database.query(
            """
            UPDATE oob_codes SET attempts = least(attempts + 1, \(Int32(NewShortCode.attempts + 1)))
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND type IN (\(type.rawValue), \(type.decoy)) AND owner = \(owner) AND digits_session_hash = \(session)
            RETURNING code_hash, digits_hash, digits_valid_until, attempts, type = \(type.rawValue)
            """
        ) { row in
            (
                code: try row.next([UInt8].self), digits: try row.next([UInt8].self),
                validUntil: try row.next(Date.self), attempts: try row.next(Int32.self), isReal: try row.next(Bool.self)
            )
        }
        guard let row = rows.first else { return nil }
        let isRight = keyRing.isHash(row.digits, of: digits, session, in: Self.table, scope)
        return TriedShortCode(
            hash: row.code,
            isRight: isRight && row.isReal,
            validUntil: row.validUntil,
            attempts: Int(row.attempts)
        )
    }

    /// The code of a right attempt, with the account for a sign-in code; nil if it was wrong, or used in the meantime.
    package func find(_ tried: TriedShortCode, in scope: Scope) async throws -> FoundCode? {
        guard tried.isRight else { return nil }
        return try await find(hash: tried.hash, in: scope)
    }

    /// The same code, with its account as it is now.
    package func find(again code: OOBCode, in scope: Scope) async throws -> FoundCode? {
        try await find(hash: code.hash, in: scope)
    }
}

extension OOBCodeType {
    /// The type of a row that is no code, but looks like one to a client that tries its digits.
    var decoy: String { "NONE_\(rawValue)" }
}
