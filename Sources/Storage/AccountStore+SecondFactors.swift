package import Domain
import Postgres
package import Projects
package import struct Foundation.Date

/// What an attempt at a second factor's code depends on.
package struct SecondFactorStanding: Sendable {
    package let isDisabled: Bool
    /// As ``Domain/Account/revokedVersion``.
    package let revokedVersion: Int64
    /// Whether the account proved a second factor in the caller's network within a month.
    package let isAtHome: Bool
}

extension AccountStore {
    /// - Parameter network: the caller's, as sessions store it.
    /// - Returns: nil for no account.
    package func standing(
        of account: AccountID,
        from network: String?,
        in scope: Scope,
        now: Date
    ) async throws -> SecondFactorStanding? {
        try await database.query(
            """
            SELECT disabled IS TRUE, revoked_version, EXISTS (
                SELECT FROM sessions s
                WHERE s.project = a.project AND s.tenant = a.tenant
                    AND s.account = a.account AND s.second_factor IS NOT NULL
                    AND s.address_prefix = \(network) AND s.last_used_at > \(now.addingTimeInterval(-Self.familiarity))
            )
            FROM accounts a
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
            """
        ) { row in
            SecondFactorStanding(isDisabled: try row.next(), revokedVersion: try row.next(), isAtHome: try row.next())
        }.first
    }
}
