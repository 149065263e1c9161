import Domain
import Postgres
package import Projects

extension AccountStore {
    /// The accounts that match a query of the console, page by page, by one statement whose cost does not depend on the
    /// number of accounts.
    ///
    /// Sorted by creation, with conditions on sign-in methods, state and creation alone, a page is complete. With others
    /// it may end early, as in ``page(_:after:size:reach:in:)``, after ``PageReach/console`` accounts.
    ///
    /// - Parameter size: 1 to 500.
    package func search(
        _ query: AccountQuery,
        after position: AccountPosition?,
        size: Int,
        in scope: Scope
    ) async throws -> AccountPage {
        guard query.isFiltered, query.isOfGroups else {
            return try await page(query, after: position, size: size, reach: .console, in: scope)
        }
        let rows = try await database.query(
            """
            WITH RECURSIVE \(sql: Self.groups(in: scope)),
            page AS MATERIALIZED (
                SELECT a.* FROM groups g CROSS JOIN LATERAL (
                    SELECT a.*, a.created_at AS place FROM accounts a
                    WHERE \(sql: Self.isOf(scope)) AND a.methods = g.methods
                        AND (a.disabled IS TRUE) = g.is_disabled
                        AND (a.email IS NOT NULL AND NOT a.email_verified) = g.is_unverified
                        AND (a.second_factors IS NOT NULL) = g.has_second_factor
                        AND \(sql: Self.isCreatedInTime(query)) AND \(sql: Self.follows(position, query))
                    ORDER BY \(sql: Self.order(of: query)) LIMIT \(size)
                ) a
                WHERE \(sql: Self.groupMeets(query))
                ORDER BY \(sql: Self.order(of: query)) LIMIT \(size)
            )
            SELECT \(sql: AccountRow.columns) FROM page a \(sql: AccountRow.joins(.of(scope.project)))
            ORDER BY \(sql: Self.order(of: query))
            """,
            AccountRow.decode
        )
        let accounts = AccountRow.merge(rows)
        let last = accounts.count == size ? accounts.last : nil
        return AccountPage(accounts: accounts, next: last.flatMap { AccountPosition(of: $0, by: query.sort) })
    }

    /// The state of an account `a`, exactly as `accounts_group_idx` has it.
    private static let state: SQL = """
        a.disabled IS TRUE, a.email IS NOT NULL AND NOT a.email_verified, a.second_factors IS NOT NULL
        """

    /// The groups of a scope: its accounts with the same sign-in methods and state, which stand together in
    /// `accounts_group_idx`.
    ///
    /// Each is found by one look into the index, however many accounts it has.
    private static func groups(in scope: Scope) -> SQL {
        let first: SQL = "SELECT a.methods, \(sql: state) FROM accounts a WHERE \(sql: isOf(scope))"
        let order: SQL = "ORDER BY a.methods, \(sql: state) LIMIT 1"
        return """
            groups (methods, is_disabled, is_unverified, has_second_factor) AS (
                (\(sql: first) \(sql: order))
                UNION ALL
                SELECT n.* FROM groups g CROSS JOIN LATERAL (
                    \(sql: first) AND (a.methods, \(sql: state))
                        > (g.methods, g.is_disabled, g.is_unverified, g.has_second_factor)
                    \(sql: order)
                ) n
            )
            """
    }

    /// Matches groups `g` that meet the query's conditions.
    private static func groupMeets(_ query: AccountQuery) -> SQL {
        """
        (\(query.method?.rawValue)::text IS NULL OR \(query.method?.rawValue) = ANY (g.methods))
        AND (\(query.isDisabled)::bool IS NULL OR g.is_disabled = \(query.isDisabled))
        AND (\(query.isUnverified)::bool IS NULL OR g.is_unverified = \(query.isUnverified))
        AND (\(query.hasSecondFactor)::bool IS NULL OR g.has_second_factor = \(query.hasSecondFactor))
        AND (\(query.isAnonymous)::bool IS NULL OR (g.methods = '{}') = \(query.isAnonymous))
        """
    }
}
