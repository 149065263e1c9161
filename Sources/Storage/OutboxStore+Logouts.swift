import Delivery
package import Foundation
import Linking
import Postgres
package import Projects

extension OutboxStore {
    /// Writes a message to each application whose session has ended and that wants to know, and to the project's webhook.
    ///
    /// The ended sessions are the record, so whatever ends one need not know about this.
    ///
    /// - Parameter isTold: whether a project's webhook takes messages about ended grants.
    package func queueLogouts(telling isTold: @Sendable (ProjectID) -> Bool, now: Date) async throws {
        let isDue = try await database.query(
            "SELECT EXISTS (SELECT FROM sessions WHERE tells_client AND revoked_at IS NOT NULL)"
        ) { row in try row.next(Bool.self) }
        guard isDue.first == true else { return }
        try await database.transaction { transaction in
            let ended = try await transaction.query(
                """
                UPDATE sessions s SET tells_client = false
                FROM (
                    SELECT project, account, session FROM sessions WHERE tells_client AND revoked_at IS NOT NULL
                    ORDER BY revoked_at LIMIT 100 FOR UPDATE SKIP LOCKED
                ) e
                WHERE s.project = e.project AND s.account = e.account AND s.session = e.session
                RETURNING s.project, s.tenant, s.account, s.session, s.client, EXISTS (
                    SELECT FROM oauth_clients c WHERE c.project = s.project AND c.client = s.client
                        AND c.metadata ? 'backchannel_logout_uri'
                )
                """
            ) { row in
                let (project, tenant): (String, String) = (try row.next(), try row.next())
                let (account, session): (String, String) = (try row.next(), try row.next())
                let client: String = try row.next()
                let wantsToKnow: Bool = try row.next()
                guard let project = ProjectID(rawValue: project) else { return nil }
                let scope = Scope(project: project, tenant: TenantID(rawValue: tenant))
                return (scope, wantsToKnow, ApplicationLogout(client: client, account: account, session: session))
            }
            .compactMap { (item: (Scope, Bool, ApplicationLogout)?) in item }
            for (scope, wantsToKnow, logout) in ended {
                if wantsToKnow {
                    try await transaction.execute(
                        Self.insertion(kind: ApplicationLogout.kind, logout, in: scope, keyRing: keyRing, due: now)
                    )
                }
                if isTold(scope.project) {
                    let notice = GrantNotice(
                        .grantEnded,
                        client: logout.client,
                        session: logout.session,
                        account: AccountID(logout.account),
                        in: scope,
                        date: now
                    )
                    try await transaction.execute(
                        Self.insertion(kind: GrantNotice.kind, notice, in: scope, keyRing: keyRing, due: now)
                    )
                }
            }
        }
    }
}
