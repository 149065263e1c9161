package import Domain
import Postgres
package import Projects

extension AccountStore {
    /// Counts the accounts that match a query; reads all of the scope's, unless the query selects one.
    package func count(_ query: AccountQuery, in scope: Scope) async throws -> Int64 {
        try await passing(query.subject == nil, scope) {
            try await database.query(
                """
                SELECT count(*) FROM accounts a
                WHERE \(sql: Self.isNamed(by: query, scope)) AND \(sql: Self.meets(query))
                """
            ) { row in try row.next(Int64.self) }.first ?? 0
        }
    }

    /// Runs a query, behind ``scans`` if it may examine all accounts of the scope.
    private func passing<Result>(
        _ examinesAll: Bool,
        _ scope: Scope,
        _ query: () async throws -> Result
    ) async throws -> Result {
        try await examinesAll ? scans.pass(scope.project, query) : query()
    }

    /// The accounts that match a query, in its order, without the first `offset` of them.
    ///
    /// - Parameter limit: at most 500.
    package func list(
        _ query: AccountQuery,
        offset: Int64,
        limit: Int,
        in scope: Scope
    ) async throws -> [Account] {
        // Without an OFFSET clause, the planner knows that it needs only the first rows of an index.
        let skipped: SQL = offset > 0 ? "OFFSET \(offset)" : ""
        let examinesAll = query.subject == nil && (offset > 0 || query.isFiltered || !query.sort.hasIndex)
        let rows = try await passing(examinesAll, scope) {
            try await database.query(
                """
                SELECT \(sql: AccountRow.columns)
                FROM (
                    SELECT * FROM (
                        SELECT a.*, \(sql: Self.place(in: query)) AS place FROM accounts a
                        WHERE \(sql: Self.isNamed(by: query, scope)) AND \(sql: Self.meets(query))
                        ORDER BY \(sql: Self.order(of: query)) LIMIT 500 \(sql: skipped)
                    ) a ORDER BY \(sql: Self.order(of: query)) LIMIT \(limit)
                ) a \(sql: AccountRow.joins(.of(scope.project)))
                ORDER BY \(sql: Self.order(of: query))
                """,
                AccountRow.decode
            )
        }
        return AccountRow.merge(rows)
    }

    /// A page of the accounts that match a query, in an order that has an index.
    ///
    /// Its cost does not depend on the number of accounts: it examines at most `reach` of them and may then end early,
    /// even without an account, but with the position where the next page continues.
    ///
    /// - Parameter size: 1 to 500.
    package func page(
        _ query: AccountQuery,
        after position: AccountPosition?,
        size: Int,
        reach: PageReach = .api,
        in scope: Scope
    ) async throws -> AccountPage {
        // The limits are literals, so that the planner knows that it reads a few rows of an index, not a tenth of all.
        let (examined, last): (SQL, SQL) =
            switch reach {
            case _ where !query.isFiltered: ("500", "499")
            case .api: ("10000", "9999")
            case .console: ("2500", "2499")
            }
        let candidates: SQL = """
            SELECT a.*, \(sql: Self.place(in: query)) AS place FROM accounts a
            WHERE \(sql: Self.isNamed(by: query, scope)) AND \(sql: Self.follows(position, query))
                AND \(sql: query.sort == .createdAt ? Self.isCreatedInTime(query) : "true")
            ORDER BY \(sql: Self.order(of: query))
            """
        // In the same statement: between two statements, created or deleted accounts would move the end.
        let end: SQL =
            query.isFiltered
            ? """
            UNION ALL
            SELECT *, false FROM (\(sql: candidates) LIMIT 1 OFFSET \(sql: last)) a
            WHERE (SELECT count(*) FROM page) < \(size)
            """ : ""
        let rows = try await database.query(
            """
            WITH page AS MATERIALIZED (
                SELECT * FROM (\(sql: candidates) LIMIT \(sql: examined)) a
                WHERE \(sql: Self.meets(query))
                ORDER BY \(sql: Self.order(of: query)) LIMIT \(size)
            )
            SELECT a.is_meant, \(sql: AccountRow.columns)
            FROM (SELECT *, true AS is_meant FROM page \(sql: end)) a \(sql: AccountRow.joins(.of(scope.project)))
            ORDER BY is_meant DESC, \(sql: Self.order(of: query))
            """
        ) { row in (isMeant: try row.next(Bool.self), account: try AccountRow.decode(&row)) }
        let accounts = AccountRow.merge(rows.filter(\.isMeant).map(\.account))
        let final = accounts.count == size ? accounts.last : rows.last { !$0.isMeant }?.account
        return AccountPage(accounts: accounts, next: final.flatMap { AccountPosition(of: $0, by: query.sort) })
    }

    // MARK: Conditions on an account `a`

    /// Matches accounts of the scope that were not merged.
    static func isOf(_ scope: Scope) -> SQL {
        "a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue) AND a.merged_into IS NULL"
    }

    /// Matches accounts of the scope, or the one that the query selects.
    private static func isNamed(by query: AccountQuery, _ scope: Scope) -> SQL {
        let named: SQL =
            switch query.subject {
            case nil: ""
            case .account(let id): "AND a.account = \(id)"
            case .email(let email): "AND coalesce(a.email, '') = \(email.canonical)"
            case .phoneNumber(let number):
                """
                AND a.account = (
                    SELECT account FROM account_phones WHERE project = \(scope.project.rawValue)
                        AND tenant = \(scope.tenant.rawValue) AND phone_number = \(number)
                )
                """
            }
        return "\(sql: isOf(scope)) \(sql: named)"
    }

    static func isCreatedInTime(_ query: AccountQuery) -> SQL {
        let after: SQL? = query.createdAfter.map { "a.created_at >= \($0)" }
        let before: SQL? = query.createdBefore.map { "a.created_at < \($0)" }
        return "\(sql: after ?? "true") AND \(sql: before ?? "true")"
    }

    /// Matches accounts after a position, in the query's direction.
    static func follows(_ position: AccountPosition?, _ query: AccountQuery) -> SQL {
        let follows: SQL = query.descends ? "<" : ">"
        return switch position {
        case nil: "true"
        case .account(let id): "a.account \(sql: follows) \(id)"
        case .createdAt(let date, let id): "(a.created_at, a.account) \(sql: follows) (\(date), \(id))"
        case .email(let email, let id): "(coalesce(a.email, ''), a.account) \(sql: follows) (\(email), \(id))"
        }
    }

    /// Matches the query's conditions.
    ///
    /// `OFFSET 0` keeps the planner from joining whole tables: it examines each account by key until there are enough.
    private static func meets(_ query: AccountQuery) -> SQL {
        guard query.isFiltered else { return "true" }
        return """
            (\(query.method?.rawValue)::text IS NULL OR \(query.method?.rawValue) = ANY (a.methods))
            AND (\(query.emailDomain)::text IS NULL OR split_part(a.email, '@', 2) = \(query.emailDomain))
            AND (\(query.isDisabled)::bool IS NULL OR (a.disabled IS TRUE) = \(query.isDisabled))
            AND (\(query.isUnverified)::bool IS NULL
                OR (a.email IS NOT NULL AND NOT a.email_verified) = \(query.isUnverified))
            AND (\(query.hasSecondFactor)::bool IS NULL OR (a.second_factors IS NOT NULL) = \(query.hasSecondFactor))
            AND (\(query.isAnonymous)::bool IS NULL OR (a.methods = '{}') = \(query.isAnonymous))
            AND \(sql: isCreatedInTime(query))
            AND (\(query.lastUsedBefore)::timestamptz IS NULL OR \(sql: lastUse) < \(query.lastUsedBefore))
            AND (\(query.lastUsedAfter)::timestamptz IS NULL OR \(sql: lastUse) > \(query.lastUsedAfter))
            AND (\(query.hasDetachedCredential)::bool IS NULL OR \(query.hasDetachedCredential) = EXISTS (
                SELECT FROM detached_credentials d WHERE d.project = a.project AND d.tenant = a.tenant
                    AND d.account = a.account OFFSET 0
            ))
            AND (\(query.hasRelayAddress)::bool IS NULL OR \(query.hasRelayAddress) = EXISTS (
                SELECT FROM linked_credentials l
                WHERE l.project = a.project AND l.tenant = a.tenant
                    AND l.account = a.account AND l.email_is_relay OFFSET 0
            ))
            AND (\(query.hasRevokedConsent)::bool IS NULL OR \(query.hasRevokedConsent) = EXISTS (
                \(sql: subjects) AND c.revoked_at IS NOT NULL OFFSET 0
            ))
            AND (\(query.isBlockedAtProvider)::bool IS NULL OR \(query.isBlockedAtProvider) = EXISTS (
                \(sql: subjects) AND c.blocked_at IS NOT NULL OFFSET 0
            ))
            AND (\(query.hasSession)::bool IS NULL OR \(query.hasSession) = EXISTS (
                SELECT FROM sessions s WHERE s.project = a.project AND s.tenant = a.tenant AND s.account = a.account
                    AND s.revoked_at IS NULL AND s.auth_time >= a.valid_since OFFSET 0
            ))
            """
    }

    private static let lastUse: SQL = """
        coalesce((
            SELECT greatest(v.last_sign_in_at, v.last_refresh_at) FROM account_activity v
            WHERE v.project = a.project AND v.tenant = a.tenant AND v.account = a.account
        ), a.created_at)
        """

    /// The account's identities at providers.
    private static let subjects: SQL = """
        SELECT FROM linked_credentials l
        JOIN credential_subjects c ON c.project = l.project AND c.tenant = l.tenant AND c.provider = l.provider
            AND c.subject = l.subject
        WHERE l.project = a.project AND l.tenant = a.tenant AND l.account = a.account
        """

    /// The query's sort key; accounts without one sort lowest.
    private static func place(in query: AccountQuery) -> SQL {
        switch query.sort {
        case .account: "a.account"
        case .createdAt: "a.created_at"
        case .email: "coalesce(a.email, '')"
        case .name: "coalesce(a.display_name, '')"
        case .lastSignInAt:
            """
            coalesce((
                SELECT v.last_sign_in_at FROM account_activity v
                WHERE v.project = a.project AND v.tenant = a.tenant AND v.account = a.account
            ), '-infinity')
            """
        }
    }

    /// The order of accounts with their `place`; for the ID alone, the planner must not sort by it twice.
    static func order(of query: AccountQuery) -> SQL {
        let direction: SQL = query.descends ? "DESC" : "ASC"
        let place: SQL = query.sort == .account ? "" : "place \(sql: direction),"
        return "\(sql: place) account \(sql: direction)"
    }
}

extension AccountStore {
    /// Counts the accounts with second factors but without a verified email, by project, for `identity check`.
    ///
    /// Reads every account.
    package func countUnverifiedFactors() async throws -> [ProjectID: Int64] {
        let rows = try await database.query(
            """
            SELECT project, count(*) FROM accounts
            WHERE second_factors IS NOT NULL AND (email IS NULL OR NOT email_verified) AND merged_into IS NULL
            GROUP BY project
            """
        ) { row in (project: ProjectID(rawValue: try row.next()), count: try row.next(Int64.self)) }
        return Dictionary(rows.compactMap { row in row.project.map { ($0, row.count) } }) { first, _ in first }
    }
}
