package import Domain
import Postgres
package import Projects
import Requests
import Sessions
package import struct Foundation.Date

/// Sign-ins that do not change the account: they open a session and use the one-time code.
extension AccountStore {
    /// Opens a session unless the account changed since it was read, in one statement shared with other simultaneous
    /// sign-ins.
    ///
    /// The account's lock orders it with everything that ends sessions: either that sees the new session, or the
    /// account has changed.
    ///
    /// - Parameters:
    ///   - code: the code to use, unless the account has changed; nil for another proof.
    ///   - amendment: a blocking function's changes, written in the same transaction.
    /// - Returns: false for an account that changed.
    /// - Throws: ``SpentCode``; ``RateLimitReached``.
    package func openSession(
        _ session: NewSession,
        for account: Account,
        spending code: OneTimeCode? = nil,
        amendment: Amendment? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        guard batches, amendment == nil else {
            var changes = AccountChanges()
            changes.spends = code
            changes.amend(amendment, account)
            return try await open(session, for: account, with: changes, in: scope, now: now)
        }
        let question = OpeningQuestion(scope: scope, account: account, session: session, code: code?.hash, now: now)
        let answer = try await openings(spending: code?.kind).answer(to: question, for: code?.hash)
        if answer == .opened { return true }
        // A request whose row is locked or has changed waits for it alone.
        return try await gate.pass(account.id, in: scope, .signIn) {
            let answer = try await Self.open([question], spending: code?.kind, skipsLocked: false, database).first
            if let code, answer == .spent { throw SpentCode(code: code) }
            if answer == .limited { throw SignInPace.reached }
            return answer == .opened
        }
    }

    /// Opens a session with other changes of the account, unless it changed since it was read.
    func open(
        _ session: NewSession,
        for account: Account,
        with changes: AccountChanges,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        try await signIn(to: account.id, opening: session, in: scope, now: now) { current in
            current.stands(as: account) && !current.isDisabled ? changes : nil
        }
    }

    /// Signs in under the account's lock.
    ///
    /// - Parameters:
    ///   - session: nil if a second factor is still required.
    ///   - decide: gets the current account; nil if the sign-in no longer fits it.
    /// - Returns: false if it does not.
    func signIn(
        to account: AccountID,
        opening session: NewSession?,
        in scope: Scope,
        now: Date,
        decide: @escaping @Sendable (Account) -> AccountChanges?
    ) async throws -> Bool {
        do {
            _ = try await change(account, session: nil, opening: session, in: scope, now: now, lane: .signIn) {
                current,
                _ in
                guard var changes = decide(current) else { throw NotWritten(outcome: .stale) }
                changes.isSignIn = true
                if let session {
                    changes.session = .open(session)
                    changes.lastSignInAt = now
                }
                return changes
            }
            return true
        } catch is UnknownAccount {
            return false
        } catch is NotWritten {
            return false
        }
    }

    /// Opens several sessions with one statement.
    ///
    /// Accounts, then codes, are locked in the order of their keys, so two nodes never deadlock.
    static func open(
        _ questions: [OpeningQuestion],
        spending kind: OneTimeCode.Kind?,
        skipsLocked: Bool,
        _ executor: some PostgresExecutor
    ) async throws -> [OpeningAnswer] {
        let now = questions.map(\.now).max() ?? Date()
        let skip: SQL = skipsLocked ? "SKIP LOCKED" : ""
        var target: SQL =
            "target AS (SELECT n.*, valid_since FROM asked n JOIN standing USING (number) WHERE has_room)"
        if let kind {
            target = """
                code AS MATERIALIZED (
                    SELECT n.number, valid_since, c.project, c.\(sql: kind.column) AS hash, c.tenant,
                        c.\(sql: kind.purpose) AS purpose, c.owner, c.created_at
                    FROM asked n
                    JOIN standing USING (number)
                    JOIN \(sql: kind.table) c ON c.project = n.project AND c.\(sql: kind.column) = n.code
                        AND c.tenant IS NOT DISTINCT FROM n.tenant
                    WHERE has_room
                    ORDER BY c.project, c.\(sql: kind.column)
                    FOR UPDATE OF c \(sql: skip)
                ), spent AS (
                    DELETE FROM \(sql: kind.table) c USING code k
                    WHERE c.project = k.project AND c.\(sql: kind.column) = k.hash
                ), older AS (\(sql: kind.endingOlder)), target AS (SELECT n.*, valid_since FROM asked n JOIN code USING (number))
                """
        }
        let rows = try await executor.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                    \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.account.id.rawValue))::text[],
                    \(questions.map(\.account.version))::int8[], \(questions.map(\.account.createdAt))::timestamptz[], \(questions.map(\.account.validSince))::int8[],
                    \(questions.map { $0.code ?? [] })::bytea[],
                    \(sql: NewSession.arrays(of: questions.map(\.session)))) WITH ORDINALITY
                    n (project, tenant, account, version, made_at, known_since, code, \(sql: NewSession.arrayNames), number)
            ), standing AS MATERIALIZED (
                SELECT n.number, a.valid_since,
                    \(sql: SignInPace.hasRoom(by: "n", within: "n.room", now: now)) AS has_room
                FROM asked n
                JOIN accounts a ON a.project = n.project AND a.tenant = n.tenant AND a.account = n.account
                WHERE a.version = n.version AND a.created_at = n.made_at AND a.valid_since = n.known_since
                ORDER BY a.project, a.tenant, a.account
                FOR SHARE OF a \(sql: skip)
            ), \(sql: target), \(sql: NewSession.opening(now: now))
            SELECT s.number, t.number IS NOT NULL, has_room FROM standing s LEFT JOIN target t USING (number)
            """
        ) { row in
            (
                index: Int(try row.next(Int64.self)) - 1, isOpened: try row.next(Bool.self),
                hasRoom: try row.next(Bool.self)
            )
        }
        var answers = [OpeningAnswer](repeating: .stale, count: questions.count)
        for row in rows where answers.indices.contains(row.index) {
            answers[row.index] = row.isOpened ? .opened : row.hasRoom ? .spent : .limited
        }
        return answers
    }
}

/// A session to open for an account as it was read.
struct OpeningQuestion: Sendable {
    var scope: Scope
    var account: Account
    var session: NewSession
    /// The hash of the one-time code to use.
    var code: [UInt8]?
    var now: Date
}

enum OpeningAnswer: Sendable {
    case opened
    /// The account changed or is locked.
    case stale
    /// The code is used or locked.
    case spent
    /// The account was signed in to too often.
    case limited
}

extension NewSession {
    /// The columns of several sessions as arguments of `unnest`, by ``arrayNames``; an empty ID for none.
    ///
    /// - Parameter origins: of the audit entries; nil for those of the sessions.
    static func arrays(of sessions: [NewSession?], from origins: [AuditOrigin]? = nil) -> SQL {
        """
        \(sessions.map { $0?.id.rawValue ?? "" })::text[], \(sessions.map { $0?.secretHash ?? [] })::bytea[],
        \(sessions.map { $0?.authTime ?? 0 })::int8[], \(sessions.map { $0?.signInProvider.rawValue ?? "" })::text[],
        \(sessions.map { $0?.claims })::text[], \(sessions.map { $0?.signInAttributes })::text[],
        \(sessions.map { $0?.secondFactor?.kind })::text[], \(sessions.map { $0?.secondFactor?.enrollment })::text[],
        \(sessions.map { $0?.userAgent })::text[], \(sessions.map { $0?.addressPrefix })::text[],
        \(sessions.map { $0?.pace.step ?? 0 })::float8[], \(sessions.map { $0?.pace.room ?? 0 })::float8[],
        \(sql: AuditOrigin.arrays(of: origins ?? sessions.map { $0?.origin }))
        """
    }

    static let arrayNames: SQL = """
        new_session, secret_hash, auth_time, method, claims, attributes, second_factor, second_factor_identifier,
        user_agent, address_prefix, step, room, \(sql: AuditOrigin.arrayNames)
        """

    /// Parts of a statement that insert the sessions of `target`, update their accounts' last sign-in, record it, and
    /// end what is too much.
    ///
    /// A session never starts before its account's `valid_since`, whichever node's clock set that.
    ///
    /// - Parameter isNew: a condition for sessions of `target` that an earlier run of the statement has not opened.
    static func opening(now: Date, where isNew: SQL = "true") -> SQL {
        """
        opened AS (
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                claims, sign_in_attributes, second_factor, second_factor_identifier, created_at, last_used_at,
                user_agent, address_prefix)
            SELECT project, account, new_session, tenant, secret_hash, greatest(auth_time, valid_since), method, claims,
                attributes, second_factor, second_factor_identifier, \(now), \(now), user_agent, address_prefix
            FROM target WHERE \(sql: isNew)
        ), activity AS (
            INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at, sign_ins_until)
            SELECT project, tenant, account, \(now), \(now), \(sql: .later(than: "\(now)", by: "sum(step)"))
            FROM target GROUP BY project, tenant, account ORDER BY project, tenant, account
            ON CONFLICT (project, tenant, account) DO UPDATE
                SET last_sign_in_at = EXCLUDED.last_sign_in_at, last_refresh_at = EXCLUDED.last_refresh_at,
                    \(sql: SignInPace.counting(now: now))
        ), audit AS (
            INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, address_prefix,
                \(sql: AuditOrigin.arrayNames))
            SELECT project, \(now), tenant, account, method, new_session, \(AuditAction.signedIn.rawValue),
                address_prefix, \(sql: AuditOrigin.arrayNames)
            FROM target WHERE \(sql: isNew)
        ), \(sql: SessionStore.surplus(of: "SELECT DISTINCT project, tenant, account FROM target WHERE \(sql: isNew)", now: now)),
        surplus_audit AS (
            INSERT INTO audit_log (project, recorded_at, tenant, account, resource, action, changes, address_prefix,
                \(sql: AuditOrigin.arrayNames))
            SELECT o.project, \(now), t.tenant, o.account, o.session, \(AuditAction.sessionRevoked.rawValue),
                \([SessionStore.surplusReason]), t.address_prefix, \(sql: AuditOrigin.arrayNames)
            FROM surplus o
            CROSS JOIN LATERAL (
                SELECT * FROM target WHERE project = o.project AND tenant = o.tenant
                    AND account = o.account ORDER BY number LIMIT 1
            ) t
        )
        """
    }
}
