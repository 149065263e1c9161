import AsyncAlgorithms
import Domain
package import Logging
package import Postgres
import Requests
import ServiceLifecycle
package import struct Foundation.Date

/// Deletes expired rows: unfinished flows and unused challenges, pending credentials, hashes of used ID tokens, handled events, messages that
/// were delivered or given up, codes of emails and SMS, rate limits, the content of merged accounts, old sign-in
/// counts, sessions that ended long ago, ended console sessions, applications that nobody registered by hand
/// or uses, their unused codes, and old anonymous accounts where a project wants it.
///
/// Only the size of the tables depends on it, except for those accounts: readers check the time themselves. Nodes take turns; a slow one does not
/// prevent the next from starting, and each skips rows that another one has locked.
package struct Sweeper: Service {
    private let database: PostgresClient
    private let logger: Logger
    private let now: @Sendable () -> Date

    package init(database: PostgresClient, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.logger = logger
        self.now = now
    }

    /// How long the row of an ended session is kept, in seconds: the revocation feed needs it for the two weeks that a
    /// session cookie may last, plus a day for late readers.
    package static let endedSessionLifetime = 15.0 * 86_400

    /// Sweeps once a minute until stopped, unless another node already did in this minute.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(60), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                guard try await takesTurn() else { continue }
                // A node that is stopping leaves the rest to others.
                _ = try await cancelWhenGracefulShutdown { try await sweep() }
            } catch {
                guard !Task.isShuttingDownGracefully else { return }
                logger.warning("Expired rows could not be deleted", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Whether this node sweeps now: the first to ask in a minute does.
    ///
    /// The turn of a node whose clock is more than a minute ahead does not count.
    package func takesTurn() async throws -> Bool {
        let now = now()
        return try await database.execute(
            """
            UPDATE configuration SET swept_at = \(now)
            WHERE swept_at < \(now.addingTimeInterval(-59)) OR swept_at > \(now.addingTimeInterval(60))
            """
        ) > 0
    }

    /// Deletes expired rows, at most a thousand at a time, so that no statement holds many locks.
    ///
    /// Each statement wants them in order, which an index of every large table has. Otherwise its generic plan, which knows
    /// no times, expects that a third of the rows have expired, and reads the whole table for a thousand of them each minute.
    ///
    /// A table that cannot be swept does not keep the others from it.
    ///
    /// - Returns: the number of deleted rows.
    /// - Throws: the first failure, at the end.
    @discardableResult
    package func sweep() async throws -> Int {
        let tables: [SQL] = [
            "flows", "pending_credentials", "used_id_tokens", "provider_events", "kept_names",
            "oob_codes", "verification_codes", "rate_limits", "console_sessions", "device_codes",
        ]
        let steps =
            tables.map { table in { () async throws -> Int in try await sweep(table) } }
            + [
                sweepMessages, sweepSessions, endBrowserSessions, endGrants, sweepClients, sweepMerges, sweepCounts,
                sweepGuests,
            ]
        var total = 0
        var failure: (any Error)?
        for step in steps {
            do { total += try await step() } catch {
                guard !Task.isCancelled else { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return total
    }

    /// Messages that have ended; `DeliverMessages` gives up, counts and logs those that expire before, within a day.
    private func sweepMessages() async throws -> Int {
        let late = now().addingTimeInterval(-86_400)
        return try await sweep("outbox", and: "(NOT (\(sql: OutboxStore.isWaiting)) OR expires_at < \(late))")
    }

    private func sweep(_ table: SQL, and condition: SQL = "true") async throws -> Int {
        try await repeatedly(
            "DELETE FROM \(sql: table)",
            table,
            where: "expires_at < \(now()) AND \(sql: condition)",
            from: "expires_at"
        )
    }

    /// Changes the rows of a table that fulfil a condition, a thousand at a time in the order of an index.
    ///
    /// The places of rows are PostgreSQL's own; where rows lie on several machines, each changes all of its at once.
    private func repeatedly(_ change: SQL, _ table: SQL, where condition: SQL, from column: SQL) async throws -> Int {
        guard database.engine == .postgresql else {
            return try await unhurried { try await database.execute("\(sql: change) WHERE \(sql: condition)") }
        }
        return try await repeatedly(
            """
            \(sql: change) WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM \(sql: table) WHERE \(sql: condition)
                ORDER BY \(sql: column) LIMIT 1000 FOR UPDATE SKIP LOCKED
            ))
            """
        )
    }

    /// Repeats a statement until it deletes fewer than its maximum of a thousand rows.
    private func repeatedly(_ statement: SQL) async throws -> Int {
        var total = 0
        while true {
            let count = try await unhurried { try await database.execute(statement) }
            total += count
            guard count == 1000 else { return total }
        }
    }

    /// By project, because the index orders ended sessions by their end within a project.
    private func sweepSessions() async throws -> Int {
        let end = now().addingTimeInterval(-Self.endedSessionLifetime)
        guard database.engine == .postgresql else {
            return try await unhurried { try await database.execute("DELETE FROM sessions WHERE revoked_at < \(end)") }
        }
        return try await repeatedly(
            """
            DELETE FROM sessions WHERE ctid = ANY (ARRAY(
                SELECT s.place FROM projects p CROSS JOIN LATERAL (
                    SELECT ctid AS place FROM sessions
                    WHERE project = p.project AND revoked_at < \(end)
                    ORDER BY revoked_at LIMIT 1000 FOR UPDATE SKIP LOCKED
                ) s LIMIT 1000
            ))
            """
        )
    }

    /// Ends the sessions of browsers that are too old to be used, as lists show those that have not ended.
    private func endBrowserSessions() async throws -> Int {
        let now = now()
        return try await repeatedly(
            "UPDATE sessions SET revoked_at = \(now)",
            "sessions",
            where: """
                browser_session = session AND revoked_at IS NULL
                    AND created_at <= \(now.addingTimeInterval(-SessionStore.browserLifetime))
                """,
            from: "created_at"
        )
    }

    /// What is left of the grants to deleted applications, so that a new one may have the ID.
    private func endGrants() async throws -> Int { try await EndedClients(database: database, now: now).endAll() }

    /// Clients that registered themselves, and clients' documents, that nobody uses.
    private func sweepClients() async throws -> Int {
        try await repeatedly(
            "DELETE FROM oauth_clients",
            "oauth_clients",
            where: """
                expires_at < \(now()) AND NOT EXISTS (
                    SELECT FROM sessions s WHERE s.project = oauth_clients.project AND s.client = oauth_clients.client
                        AND s.revoked_at IS NULL
                )
                """,
            from: "expires_at"
        )
    }

    private func sweepCounts() async throws -> Int {
        let end = now().addingTimeInterval(-Double(SignInCountStore.lifetime) * 86_400)
        return try await repeatedly(
            "DELETE FROM sign_in_counts",
            "sign_in_counts",
            where: "day < (\(end) AT TIME ZONE 'UTC')::date",
            from: "day"
        )
    }

    /// The age of an anonymous account that is deleted, in seconds: thirty days, as in Firebase.
    package static let guestLifetime = 30.0 * 86_400

    /// Deletes old accounts without a sign-in method, in projects that want it (`autodeleteAnonymousUsers`).
    ///
    /// An account with an email, a phone number or custom tokens is not anonymous. One that others were merged into stays,
    /// because their IDs lead to it.
    private func sweepGuests() async throws -> Int {
        let deleting: SQL = "projects WHERE config @> '{\"deletesOldGuests\": true}'"
        var total = 0
        for place in try await Placement.all(in: deleting, database) { total += try await sweepGuests(at: place) }
        return total
    }

    private func sweepGuests(at place: Placement) async throws -> Int {
        let now = now()
        // By its place, which is PostgreSQL's own, a row is found once.
        let (row, key): (SQL, SQL) =
            database.engine == .postgresql
            ? ("a.ctid AS place", "ctid = ANY (ARRAY(SELECT g.place")
            : (
                "a.tenant, a.account",
                "project = \(sql: place.project(of: "accounts")) AND (tenant, account) IN ((SELECT g.tenant, g.account"
            )
        return try await repeatedly(
            """
            WITH gone AS MATERIALIZED (
                DELETE FROM accounts WHERE \(sql: key) FROM projects p CROSS JOIN LATERAL (
                        SELECT \(sql: row) FROM accounts a
                        WHERE a.project = \(sql: place.project(of: "p")) AND a.methods = '{}' AND a.merged_into IS NULL
                            AND a.created_at < \(now.addingTimeInterval(-Self.guestLifetime))
                            AND a.email IS NULL AND a.phone_number IS NULL AND a.custom_auth IS NOT TRUE
                            AND NOT EXISTS (
                                SELECT FROM account_merges m
                                WHERE m.project = \(sql: place.project(of: "a")) AND m.tenant = a.tenant
                                    AND m.survivor = a.account
                            )
                        ORDER BY a.created_at LIMIT 1000 FOR UPDATE SKIP LOCKED
                    ) g
                    WHERE p.config @> '{"deletesOldGuests": true}' \(sql: place.condition(on: "p")) LIMIT 1000
                ))
                RETURNING project, tenant, account
            ), sessions AS (
                UPDATE sessions s SET revoked_at = \(now) FROM gone g
                WHERE s.project = \(sql: place.project(of: "g")) AND s.tenant = g.tenant AND s.account = g.account AND s.revoked_at IS NULL
            ), activity AS (
                DELETE FROM account_activity v USING gone g WHERE v.project = \(sql: place.project(of: "g")) AND v.tenant = g.tenant
                    AND v.account = g.account
            ), detached AS (
                DELETE FROM detached_credentials d USING gone g WHERE d.project = \(sql: place.project(of: "g")) AND d.tenant = g.tenant
                    AND d.account = g.account
            ), audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, account, action, actor)
                SELECT project, \(now), tenant, account, \(AuditAction.accountDeleted.rawValue),
                    \(AuditOrigin.Actor.service.description)
                FROM gone
            )
            SELECT FROM gone
            """
        )
    }

    /// Empties merged accounts whose merge can no longer be undone: their claims become free, and only their IDs
    /// remain, as aliases.
    private func sweepMerges() async throws -> Int {
        var total = 0
        for place in try await Placement.all(in: "account_merges WHERE undoable_until < \(now())", database) {
            total += try await sweepMerges(at: place)
        }
        return total
    }

    private func sweepMerges(at place: Placement) async throws -> Int {
        let project = place.project(of: "o")
        return try await repeatedly(
            """
            WITH done AS MATERIALIZED (
                SELECT m.merge, a.project, a.tenant, a.account, a.email, a.phone_number
                FROM account_merges m JOIN accounts a ON a.project = \(sql: place.project(of: "m")) AND a.tenant = m.tenant
                    AND a.account = m.merged
                WHERE m.undoable_until < \(now()) AND a.merged_into IS NOT NULL \(sql: place.condition(on: "m"))
                ORDER BY m.undoable_until LIMIT 1000 FOR UPDATE OF a SKIP LOCKED
            ), emails AS (
                DELETE FROM account_emails e USING done o
                WHERE e.project = \(sql: project) AND e.tenant = o.tenant AND e.email_key = o.email
                    AND e.account = o.account
            ), phones AS (
                DELETE FROM account_phones p USING done o
                WHERE p.project = \(sql: project) AND p.tenant = o.tenant AND p.phone_number = o.phone_number
                    AND p.account = o.account
            ), passkeys AS (
                DELETE FROM account_passkeys k USING done o
                WHERE k.project = \(sql: project) AND k.tenant = o.tenant AND k.account = o.account
            ), subjects AS (
                DELETE FROM credential_subjects c
                USING done o JOIN linked_credentials l ON l.project = \(sql: project) AND l.tenant = o.tenant
                    AND l.account = o.account
                WHERE c.project = \(sql: place.project(of: "l")) AND c.tenant = l.tenant AND c.provider = l.provider
                    AND c.subject = l.subject
            ), linked AS (
                DELETE FROM linked_credentials l USING done o
                WHERE l.project = \(sql: project) AND l.tenant = o.tenant AND l.account = o.account
            ), activity AS (
                DELETE FROM account_activity v USING done o
                WHERE v.project = \(sql: project) AND v.tenant = o.tenant AND v.account = o.account
            ), detached AS (
                DELETE FROM detached_credentials d USING done o
                WHERE d.project = \(sql: project) AND d.tenant = o.tenant AND d.account = o.account
            ), emptied AS (
                UPDATE accounts a SET version = a.version + 1, methods = '{}', email = NULL,
                    email_original = NULL, email_verified = false, initial_email = NULL, phone_number = NULL,
                    \(sql: ProfileColumns.account.setting(Profile())), password_hash = NULL, password_salt = NULL, password_parameters = NULL,
                    password_updated_at = NULL, email_link = false, custom_attributes = NULL,
                    second_factors = NULL, passkeys = NULL
                FROM done o
                WHERE a.project = \(sql: project) AND a.tenant = o.tenant AND a.account = o.account
            )
            UPDATE account_merges m SET record = NULL, undoable_until = NULL
            FROM done o
            WHERE m.project = \(sql: project) AND m.merge = o.merge
            """
        )
    }
}
