import Delivery
import Domain
package import OAuth
import Postgres
import Projects
import Requests
package import Sessions
package import struct Foundation.Date

/// A session that begins for an application when it redeems its code.
package struct NewApplicationSession: Sendable {
    /// The code's: it has no second one.
    package var id: SessionID
    package var client: String
    package var grant: ApplicationGrant
    /// Of the first refresh token.
    package var secretHash: [UInt8]
    /// The account's when its user agreed: what was withdrawn since does not begin.
    ///
    /// Nil for what a node of the release before wrote.
    package var revokedVersion: Int64?

    package init(
        id: SessionID,
        client: String,
        grant: ApplicationGrant,
        secretHash: [UInt8],
        revokedVersion: Int64?
    ) {
        self.id = id
        self.client = client
        self.grant = grant
        self.secretHash = secretHash
        self.revokedVersion = revokedVersion
    }
}

struct GrantQuestion: Sendable {
    var browser: SessionKey
    var new: NewApplicationSession
    var origin: AuditOrigin
    var now: Date

    /// A batch has one grant of an account.
    var batchKey: String { "\(browser.scope.project)/\(browser.scope.tenant)/\(browser.account)" }
}

extension SessionStore {
    /// Opens an application's session from that of the browser: with the same sign-in, once, and only if that still
    /// stands; in one statement shared with other simultaneous grants.
    ///
    /// The account is locked, so whatever ends all its sessions, or those of an application, ends this one too, or comes
    /// first. So is the client, against its deletion. Of simultaneous requests, the one whose statement inserts the row
    /// gets the session.
    ///
    /// - Parameter isTold: whether the project's webhook is told, likewise below.
    /// - Returns: nil if the browser's session has ended, the user has withdrawn a grant since, the client was deleted, or
    ///   the session has begun before.
    package func open(
        _ new: NewApplicationSession,
        from browser: SessionKey,
        isTold: Bool = false,
        now: Date
    ) async throws -> ApplicationSession? {
        let question = GrantQuestion(browser: browser, new: new, origin: RequestContext.current.origin, now: now)
        do {
            // One that is told writes the message, too.
            if batches, !isTold, let opened = try await grants.answer(to: question, for: question.batchKey) {
                return opened
            }
            // A request whose row is locked waits for it alone; one that was refused is refused again.
            return try await gate.pass(browser.account, in: browser.scope, .session) {
                let telling = isTold ? try telling(of: question) : ""
                let opened = try await Self.open(
                    [question],
                    skipsLocked: false,
                    shared: batches,
                    telling: telling,
                    database
                ).first
                return try opened?.get() ?? nil
            }
        } catch let error as PostgresError where error.constraint == "sessions_pkey" {
            return nil
        }
    }

    /// A further part of a statement, which writes the webhook.
    private func telling(of question: GrantQuestion) throws -> SQL {
        let (browser, new) = (question.browser, question.new)
        let notice = GrantNotice(
            .grantCreated,
            client: new.client,
            session: new.id.rawValue,
            account: browser.account,
            granted: (new.grant.scopes, new.grant.resources),
            in: browser.scope,
            date: question.now
        )
        return try part("telling", notice, browser.scope, from: "opened")
    }

    /// Opens several sessions with one statement.
    ///
    /// Accounts are locked in the order of their keys, each before its session, so two nodes never deadlock.
    static func open(
        _ questions: [GrantQuestion],
        skipsLocked: Bool,
        shared: Bool,
        telling: SQL = "",
        _ database: some PostgresExecutor
    ) async throws -> [Result<ApplicationSession?, any Error>] {
        let now = questions.map(\.now).max() ?? Date()
        let skip: SQL = skipsLocked ? "SKIP LOCKED" : ""
        let place = Placement(questions.map(\.browser.scope), shared: shared)
        let surplus = SessionStore.surplus(
            of: "SELECT project, tenant, account FROM browser",
            place,
            ofApplications: true,
            now: now
        )
        return try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.browser.scope.project.rawValue))::text[],
                    \(questions.map(\.browser.scope.tenant.rawValue))::text[],
                    \(questions.map(\.browser.account.rawValue))::text[],
                    \(questions.map(\.browser.session.rawValue))::text[],
                    \(questions.map(\.new.id.rawValue))::text[], \(questions.map(\.new.secretHash))::bytea[],
                    \(questions.map(\.new.client))::text[], \(try questions.map { try $0.new.grant.json })::text[],
                    \(questions.map(\.new.revokedVersion))::int8[],
                    \(questions.map(\.origin.addressPrefix))::text[],
                    \(sql: AuditOrigin.arrays(of: questions.map(\.origin)))) WITH ORDINALITY
                    n (project, tenant, account, browser, new_session, new_hash, new_client, granted, agreed_version,
                        caller_prefix, \(sql: AuditOrigin.arrayNames), number)
            ), browser AS MATERIALIZED (
                SELECT s.*, n.number, n.new_session, n.new_hash, n.new_client, n.granted, n.caller_prefix,
                    \(sql: AuditOrigin.arrayNames)
                FROM (SELECT * FROM asked ORDER BY project, tenant, account OFFSET 0) n
                CROSS JOIN LATERAL (
                    SELECT * FROM accounts WHERE project = \(sql: place.project(of: "n")) AND tenant = n.tenant AND account = n.account
                    OFFSET 0 FOR SHARE \(sql: skip)
                ) a
                CROSS JOIN LATERAL (
                    SELECT * FROM sessions WHERE project = \(sql: place.project(of: "a")) AND tenant = a.tenant AND account = a.account
                        AND session = n.browser
                    OFFSET 0 FOR SHARE \(sql: skip)
                ) s
                CROSS JOIN LATERAL (
                    SELECT * FROM oauth_clients WHERE project = \(sql: place.project(of: "s")) AND client = n.new_client
                    OFFSET 0 FOR KEY SHARE \(sql: skip)
                ) c
                WHERE \(sql: isUsable) AND \(sql: stands(since: "a.valid_since", now: now))
                    AND (n.agreed_version IS NULL OR a.revoked_version = n.agreed_version)
                    AND c.origin <> \(OAuthClient.Origin.blocked.rawValue) AND NOT EXISTS (
                    SELECT FROM ended_clients WHERE project = \(sql: place.project(of: "n")) AND client = n.new_client OFFSET 0
                ) AND NOT EXISTS (
                    SELECT FROM sessions WHERE project = \(sql: place.project(of: "n")) AND tenant = n.tenant
                        AND account = n.account AND session = n.new_session OFFSET 0
                )
            ), opened AS (
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    second_factor, second_factor_identifier, claims, sign_in_attributes, created_at, last_used_at,
                    user_agent, address_prefix, client, application_grant, browser_session, tells_client)
                SELECT project, account, new_session, tenant, new_hash, auth_time, sign_in_provider,
                    second_factor, second_factor_identifier, claims, sign_in_attributes, \(now), \(now), user_agent,
                    address_prefix, new_client, granted::jsonb, session, true
                FROM browser
                RETURNING *
            ), audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, account, resource, action, changes, address_prefix,
                    \(sql: AuditOrigin.arrayNames))
                SELECT project, \(now), tenant, account, new_session, \(AuditAction.applicationGranted.rawValue),
                    ARRAY[new_client], caller_prefix, \(sql: AuditOrigin.arrayNames)
                FROM browser
            ) \(sql: telling), \(sql: surplus), surplus_audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, account, resource, action, changes, address_prefix,
                    \(sql: AuditOrigin.arrayNames))
                SELECT o.project, \(now), o.tenant, o.account, o.session, \(AuditAction.sessionRevoked.rawValue),
                    \([surplusReason]), t.caller_prefix, \(sql: AuditOrigin.arrayNames)
                FROM surplus o JOIN browser t ON t.project = o.project AND t.tenant = o.tenant AND t.account = o.account
            )
            SELECT b.number, \(sql: applicationColumns)
            FROM opened s JOIN browser b ON b.project = s.project AND b.tenant = s.tenant AND b.account = s.account
                AND b.new_session = s.session
            \(sql: applicationJoins(place))
            """,
            into: BatchAnswers<ApplicationSession?>(repeating: nil, count: questions.count)
        ) { answers, row in try answers.read(&row, add) }.results
    }
}
