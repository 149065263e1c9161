package import Domain
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

/// Something that invalidates tokens before they expire.
package struct Revocation: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// All tokens of the session.
        case session(SessionID, of: AccountID)
        /// The account was disabled: all of its tokens.
        case account(AccountID)
        /// The tenant was deleted: all of its tokens.
        case tenant
    }

    package var subject: Subject
    package var tenant: TenantID
    package var revokedAt: Date
}

/// The position of a revocation in its project.
package struct RevocationPosition: Sendable, Hashable, Codable {
    package var date: Date
    /// Nil in positions of before the first release, which had no tenants apart.
    package var tenant: String?
    /// The account's or the tenant's ID.
    package var owner = ""
    /// Empty if it is not about a single session.
    package var session = ""

    /// Before everything that was revoked at that time.
    package init(date: Date) { self.date = date }

    package init(of revocation: Revocation) {
        date = revocation.revokedAt
        tenant = revocation.tenant.rawValue
        switch revocation.subject {
        case .session(let session, let account): (owner, self.session) = (account.rawValue, session.rawValue)
        case .account(let account): owner = account.rawValue
        case .tenant: owner = revocation.tenant.rawValue
        }
    }
}

extension SessionStore {
    /// The revocations of a project and its tenants, earliest first.
    ///
    /// Everything that invalidates an account's tokens ends its sessions, except disabling, which can be undone. So the
    /// rows themselves are the record and nothing is written twice; rows of deleted accounts stay. Times are those of
    /// the changes, so one that is committed late appears among earlier ones.
    ///
    /// - Parameter limit: at most 1000.
    package func revocations(
        in project: ProjectID,
        after position: RevocationPosition,
        limit: Int
    ) async throws -> [Revocation] {
        let place: SQL = "(\(position.date), \(position.tenant ?? ""), \(position.owner), \(position.session))"
        // The limits are literals, so that the planner knows that it reads a few rows of an index.
        return try await database.query(
            """
            (
                SELECT 'session' AS subject, revoked_at AS date, account AS owner, session, tenant FROM sessions
                WHERE project = \(project.rawValue) AND revoked_at IS NOT NULL
                    AND (revoked_at, tenant, account, session) > \(sql: place)
                ORDER BY revoked_at, tenant, account, session LIMIT 1000
            ) UNION ALL (
                SELECT 'account', disabled_at, account, '', tenant FROM accounts
                WHERE project = \(project.rawValue) AND disabled_at >= \(position.date)
                    AND (disabled_at, tenant, account, '') > \(sql: place)
                ORDER BY disabled_at, tenant, account LIMIT 1000
            ) UNION ALL (
                SELECT 'tenant', deleted_at, tenant, '', tenant FROM tenants
                WHERE project = \(project.rawValue) AND (deleted_at, tenant, tenant, '') > \(sql: place)
                ORDER BY deleted_at, tenant LIMIT 1000
            )
            ORDER BY date, tenant, owner, session LIMIT \(limit)
            """
        ) { row in
            let kind: String = try row.next()
            let date: Date = try row.next()
            let owner: String = try row.next()
            let session: String = try row.next()
            let tenant = TenantID(rawValue: try row.next())
            let subject: Revocation.Subject? =
                switch kind {
                case "session": SessionID(rawValue: session).map { .session($0, of: AccountID(owner)) }
                case "account": .account(AccountID(owner))
                default: .tenant
                }
            return subject.map { Revocation(subject: $0, tenant: tenant, revokedAt: date) }
        }.compactMap(\.self)
    }
}
