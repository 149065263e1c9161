import Domain
import Postgres
import Projects
import Sessions

extension SessionStore {
    /// What is missing of a session.
    package enum Absence: Sendable { case account, session }

    /// - Returns: nil if the session is there.
    package func absence(of key: SessionKey) async throws -> Absence? {
        let (project, tenant, account) = (
            key.scope.project.rawValue, key.scope.tenant.rawValue, key.account.rawValue
        )
        return try await database.query(
            """
            SELECT EXISTS (
                    SELECT FROM accounts WHERE project = \(project) AND tenant = \(tenant) AND account = \(account)
                ), EXISTS (
                    SELECT FROM sessions
                    WHERE project = \(project) AND tenant = \(tenant) AND account = \(account)
                        AND session = \(key.session.rawValue)
                )
            """
        ) { row in
            let hasAccount: Bool = try row.next()
            return try row.next(Bool.self) ? nil : hasAccount ? Absence.session : .account
        }.first ?? nil
    }

    /// What a token of a session's lost future is after a declared restore.
    package enum AfterRestore: Sendable {
        /// The current one from now on.
        case taken
        /// Another one was used since, so two clients have tokens of the session.
        case wentOn
    }

    /// Goes on with a token of a session's future, which the database has lost: once, while a declared restore lasts
    /// (``ConfigurationStore/declareRestore(to:until:)``), unless the session has gone on without it.
    ///
    /// - Parameter generation: the token's, which the service has signed.
    /// - Returns: nil if no restore lasts, or it has nothing to do with the token.
    package func takeAfterRestore(
        _ question: RefreshQuestion,
        generation: Int
    ) async throws -> AfterRestore? {
        let (key, now) = (question.key, question.now)
        let entry = AuditEntry(
            .sessionRestored,
            in: key.scope,
            account: key.account,
            resource: key.session.rawValue,
            at: now
        )
        return try await gate.pass(key.account, in: key.scope, .session) {
            try await database.query(
                """
                WITH target AS (
                    UPDATE sessions s SET secret_hash = \(question.secretHash), generation = \(Int32(clamping: generation)),
                        previous_hash = NULL, successor_used_at = NULL, rotations = ARRAY[\(now)]::timestamptz[], last_used_at = \(now)
                    FROM accounts a, configuration c
                    WHERE s.project = \(key.scope.project.rawValue) AND s.tenant = \(key.scope.tenant.rawValue)
                        AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue) AND s.generation < \(Int32(clamping: generation))
                        AND s.revoked_at IS NULL AND s.browser_session IS DISTINCT FROM s.session
                        AND coalesce(s.client || coalesce(' ' || (s.application_grant ->> 'keyThumbprint'), ''), '')
                            = \(question.client ?? "")
                        AND a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
                        AND a.disabled IS NOT TRUE AND s.auth_time >= a.valid_since
                        AND coalesce(c.restored_at >= \(question.idleSince)::timestamptz, true)
                        AND s.last_used_at < c.restored_at AND c.restore_ends_at > \(now)
                    RETURNING s.account
                ), audit AS (\(sql: entry.insertion(from: "target")))
                SELECT EXISTS (SELECT FROM target), EXISTS (
                    SELECT FROM sessions s, configuration c
                    WHERE s.project = \(key.scope.project.rawValue) AND s.tenant = \(key.scope.tenant.rawValue)
                        AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue) AND s.generation < \(Int32(clamping: generation))
                        AND s.last_used_at >= c.restored_at AND c.restore_ends_at > \(now)
                )
                """
            ) { row in
                let isTaken: Bool = try row.next()
                return try isTaken ? AfterRestore.taken : row.next(Bool.self) ? .wentOn : nil
            }.first ?? nil
        }
    }
}
