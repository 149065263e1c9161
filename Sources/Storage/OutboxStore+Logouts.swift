import Delivery
import Domain
package import Foundation
import OAuth
import Postgres
package import Projects

extension OutboxStore {
    /// Writes a message to each application whose session has ended and that wants to know, and to the project's webhook.
    ///
    /// The ended sessions are the record, so whatever ends one need not know about this. Each application is looked at by
    /// itself, so the sessions of one delay no other's (T-F24).
    ///
    /// - Parameter isTold: whether a project's webhook takes messages about ended grants.
    package func queueLogouts(telling isTold: @Sendable (ProjectID) -> Bool, now: Date) async throws {
        var failure: (any Error)?
        for (project, clients) in Dictionary(grouping: try await clientsToTell(), by: \.project) {
            // One project's delays no other's.
            do { try await tell(clients, of: project, isTold: isTold(project), now: now) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func tell(_ clients: [Client], of project: ProjectID, isTold: Bool, now: Date) async throws {
        try await forget(clients.filter { !isTold && !$0.hasURI }.map(\.client), of: project)
        let wanting = clients.filter { isTold || $0.hasURI }
        guard !wanting.isEmpty else { return }
        try await database.transaction { transaction in
            for (client, logout, scope) in try await take(wanting, of: project, transaction) {
                if client.hasURI {
                    transaction.write(
                        try Self.insertion(
                            kind: client.isVouchedFor ? ApplicationLogout.kind : ApplicationLogout.kindOfStrangers,
                            logout,
                            to: logout.client,
                            in: scope,
                            keyRing: keyRing,
                            due: now
                        )
                    )
                }
                guard isTold else { continue }
                let notice = GrantNotice(
                    .grantEnded,
                    client: logout.client,
                    session: logout.session,
                    account: AccountID(logout.account),
                    in: scope,
                    date: now
                )
                transaction.write(
                    try Self.insertion(kind: GrantNotice.kind, notice, in: scope, keyRing: keyRing, due: now)
                )
            }
        }
    }

    private struct Client {
        let project: ProjectID
        let client: String
        let hasURI: Bool
        let isVouchedFor: Bool
    }

    private static let isUntold: SQL = "tells_client AND revoked_at IS NOT NULL"

    /// The applications with ended sessions, each from its place in an index, however many sessions it has.
    private func clientsToTell() async throws -> [Client] {
        let clients: SQL =
            database.engine == .citus
            ? "(SELECT DISTINCT project, client FROM sessions WHERE \(sql: Self.isUntold))"
            : "(\(sql: Self.clientsByIndex))"
        return try await database.query(
            """
            SELECT d.project, d.client, coalesce(c.metadata ? 'backchannel_logout_uri', false),
                coalesce(c.origin = \(OAuthClient.Origin.admin.rawValue), false)
            FROM \(sql: clients) d LEFT JOIN oauth_clients c ON c.project = d.project AND c.client = d.client LIMIT 10000
            """
        ) { row in
            let (project, client): (String, String) = (try row.next(), try row.next())
            let (hasURI, isVouchedFor): (Bool, Bool) = (try row.next(), try row.next())
            return ProjectID(rawValue: project).map {
                Client(project: $0, client: client, hasURI: hasURI, isVouchedFor: isVouchedFor)
            }
        }.compactMap(\.self)
    }

    private static let clientsByIndex: SQL = """
        WITH RECURSIVE clients AS (
            (SELECT project, client FROM sessions WHERE \(sql: Self.isUntold) ORDER BY project, client LIMIT 1)
            UNION ALL
            SELECT n.project, n.client FROM clients d CROSS JOIN LATERAL (
                SELECT project, client FROM sessions
                WHERE \(sql: Self.isUntold) AND (project, client) > (d.project, d.client)
                ORDER BY project, client LIMIT 1
            ) n
        )
        SELECT * FROM clients
        """

    /// Some ended sessions of each application, those that ended first, of which nobody else tells: a thousand at most, or
    /// one of each.
    private func take(
        _ clients: [Client],
        of project: ProjectID,
        _ executor: some PostgresExecutor
    ) async throws -> [(Client, ApplicationLogout, Scope)] {
        let named = Dictionary(clients.map { ($0.client, $0) }) { first, _ in first }
        return try await executor.query(
            """
            UPDATE sessions s SET tells_client = false FROM (\(sql: Self.earliest(of: clients.map(\.client), project))) e
            WHERE s.project = \(project.rawValue) AND s.tenant = e.tenant AND s.account = e.account
                AND s.session = e.session
            RETURNING s.client, s.account, s.session, s.tenant
            """
        ) { row in
            let logout = ApplicationLogout(client: try row.next(), account: try row.next(), session: try row.next())
            let scope = Scope(project: project, tenant: TenantID(rawValue: try row.next()))
            return named[logout.client].map { ($0, logout, scope) }
        }.compactMap(\.self)
    }

    /// The same of applications that nobody tells.
    private func forget(_ clients: [String], of project: ProjectID) async throws {
        guard !clients.isEmpty else { return }
        try await database.execute(
            """
            UPDATE sessions s SET tells_client = false FROM (\(sql: Self.earliest(of: clients, project))) e
            WHERE s.project = \(project.rawValue) AND s.tenant = e.tenant AND s.account = e.account
                AND s.session = e.session
            """
        )
    }

    private static func earliest(of clients: [String], _ project: ProjectID) -> SQL {
        """
        SELECT n.tenant, n.account, n.session FROM unnest(\(clients)::text[]) c (client) CROSS JOIN LATERAL (
            SELECT tenant, account, session FROM sessions
            WHERE \(sql: isUntold) AND project = \(project.rawValue) AND client = c.client
            ORDER BY revoked_at LIMIT \(Int64(max(1, 1000 / clients.count))) FOR NO KEY UPDATE SKIP LOCKED
        ) n
        """
    }
}
