package import Domain
import Postgres
package import Projects
package import struct Foundation.Date

/// The number of accounts with the same sign-in methods.
package struct MethodCount: Sendable, Hashable {
    package var methods: Set<ProviderID>
    /// Whether they have an email; without one, passwords and email links cannot sign in.
    package var hasEmail: Bool
    package var accounts: Int64

    fileprivate static func decode(_ row: inout PostgresRow) throws -> MethodCount {
        MethodCount(
            methods: Set(try row.next([String].self).map { ProviderID($0) }),
            hasEmail: try row.next(),
            accounts: try row.next()
        )
    }
}

/// An account's identity at a provider, with its state.
package struct LinkedProvider: Sendable {
    package var provider: ProviderID
    package var subject: String
    package var email: String?
    package var isRelayAddress: Bool
    package var linkedAt: Date
    /// The last sign-in with it, if a session records it.
    package var lastUsedAt: Date?
    package var revokedAt: Date?
    package var blockedAt: Date?
}

extension AccountStore {
    /// Counts the accounts of a scope by sign-in methods; reads all of them.
    package func methodCounts(in scope: Scope) async throws -> [MethodCount] {
        try await scans.pass(scope.project) {
            try await database.query(
                """
                SELECT methods, email IS NOT NULL, count(*) FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND merged_into IS NULL
                GROUP BY 1, 2
                """,
                MethodCount.decode
            )
        }
    }

    /// The same, by one more account than `limit` at most; nil if there are more.
    ///
    /// - Parameter limit: at most 10,000.
    package func methodCounts(in scope: Scope, ofAtMost limit: Int) async throws -> [MethodCount]? {
        let counts = try await database.query(
            """
            SELECT methods, email IS NOT NULL, count(*) FROM (
                SELECT methods, email FROM accounts a WHERE \(sql: Self.isOf(scope))
                ORDER BY created_at, account LIMIT 10001
            ) a
            GROUP BY 1, 2
            """,
            MethodCount.decode
        )
        return counts.reduce(0) { $0 + $1.accounts } > limit ? nil : counts
    }

    /// The last sign-in by each method; reads all sessions of the scope.
    package func lastUses(in scope: Scope) async throws -> [ProviderID: Date] {
        let uses = try await scans.pass(scope.project) {
            try await database.query(
                """
                SELECT sign_in_provider, to_timestamp(max(auth_time)) FROM sessions
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                GROUP BY 1
                """
            ) { row in (ProviderID(try row.next(String.self)), try row.next(Date.self)) }
        }
        return Dictionary(uses) { first, _ in first }
    }

    /// An account's linked identities, ordered by provider.
    package func linkedProviders(of account: AccountID, in scope: Scope) async throws -> [LinkedProvider] {
        try await database.query(
            """
            SELECT l.provider, l.subject, l.email, coalesce(l.email_is_relay, false), l.linked_at, (
                SELECT to_timestamp(max(s.auth_time)) FROM sessions s
                WHERE s.project = l.project AND s.tenant = l.tenant
                    AND s.account = l.account AND s.sign_in_provider = l.provider
            ), c.revoked_at, c.blocked_at
            FROM linked_credentials l
            JOIN credential_subjects c ON c.project = l.project AND c.tenant = l.tenant AND c.provider = l.provider
                AND c.subject = l.subject
            WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
                AND l.account = \(account.rawValue)
            ORDER BY l.provider
            """
        ) { row in
            LinkedProvider(
                provider: ProviderID(try row.next(String.self)),
                subject: try row.next(),
                email: try row.next(),
                isRelayAddress: try row.next(),
                linkedAt: try row.next(),
                lastUsedAt: try row.next(),
                revokedAt: try row.next(),
                blockedAt: try row.next()
            )
        }
    }
}
