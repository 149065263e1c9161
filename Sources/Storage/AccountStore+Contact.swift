package import Linking
import Postgres
package import Projects
import Sessions
package import struct Foundation.Date

extension AccountStore {
    /// Where a code came to that an account's owner gave back.
    package enum ProvedContact: Sendable {
        case phone(PhoneNumber)
        /// Of an account that was signed in by links before.
        case email(EmailAddress)

        /// Whether it is still the account's.
        fileprivate var isStillTheirs: SQL {
            switch self {
            case .phone(let number): "phone_number = \(number.text)"
            case .email(let address): "email = \(address.canonical) AND email_verified AND email_link"
            }
        }
    }

    /// Opens a session for the account that has a number or an address, unless it is gone, disabled or without it by now.
    ///
    /// - Parameters:
    ///   - contact: which the code proved.
    ///   - code: which this uses up; nil for another proof.
    /// - Returns: false for an account that changed.
    /// - Throws: ``SpentCode``.
    package func signIn(
        to account: Account,
        by contact: ProvedContact,
        spending code: OneTimeCode?,
        session: NewSession,
        amendment: Amendment? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        // An account that changed leaves the code as it was: it is still good for the other one.
        let spending = code.map { $0.spending(scope, if: "EXISTS (SELECT FROM owner)") }
        let target: SQL =
            spending.map { "code AS (\(sql: $0)), target AS (SELECT account FROM owner, code)" }
            ?? "target AS (SELECT account FROM owner)"
        let statement: SQL = """
            WITH owner AS (
                SELECT account FROM accounts
                WHERE project = \(scope.project.rawValue) AND account = \(account.id.rawValue)
                    AND tenant = \(scope.tenant.rawValue) AND disabled IS NOT TRUE AND \(sql: contact.isStillTheirs)
                    AND (second_factors IS NULL) = \(account.secondFactors.isEmpty) AND \(sql: amendment.stillFits)
                FOR SHARE
            ), \(sql: target), session AS (\(sql: insertSession(session, scope, now: now))),
                activity AS (\(sql: recordSignIn(scope, now: now)))
            SELECT EXISTS (SELECT FROM owner), EXISTS (SELECT FROM target)
            """
        return try await amending(amendment, account.id, scope) { executor in
            let rows = try await executor.query(statement) { row in
                (isOwner: try row.next(Bool.self), isSignedIn: try row.next(Bool.self))
            }
            guard let outcome = rows.first, outcome.isOwner else { return false }
            if let code, !outcome.isSignedIn { throw SpentCode(code: code) }
            return outcome.isSignedIn
        }
    }
}
