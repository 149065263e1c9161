package import Domain
package import OAuth
import Postgres
import Projects
import Sessions
package import struct Foundation.Date

/// The session of a browser at the authorization endpoint.
///
/// It is one of the account's own, but its only secret is the browser's cookie: ``Sessions/RefreshToken/browserHash``.
package struct BrowserSession: Sendable {
    package var session: StoredSession
    package var account: Account
    /// What the user granted the application before, in sessions that still exist.
    package var granted: [ApplicationGrant]
    /// Whether the request's limits had room.
    package var hasRoom: Bool
}

struct BrowserQuestion: Sendable {
    var key: SessionKey
    var secretHash: [UInt8]
    var client: String?
    var idleSince: Date?
    var limits: RateLimits
    var now: Date
}

extension SessionStore {
    /// Reads a browser's session, and notes its use at most once a minute, in one statement shared with other simultaneous
    /// visits.
    ///
    /// Waits for no lock but that of the limits, from which nobody takes without the cookie.
    ///
    /// - Parameters:
    ///   - client: the application that asks, if one does.
    ///   - idleSince: as in ``list(of:idleSince:in:)``.
    ///   - limits: of at most one bucket; visits of a moment that share it have room together, or none has.
    /// - Returns: nil if there is no such session, or it has ended.
    package func browser(
        _ key: SessionKey,
        secretHash: [UInt8],
        client: String?,
        idleSince: Date?,
        within limits: RateLimits,
        now: Date
    ) async throws -> BrowserSession? {
        let question = BrowserQuestion(
            key: key,
            secretHash: secretHash,
            client: client,
            idleSince: idleSince,
            limits: limits,
            now: now
        )
        return try await browsers.answer(to: question, for: secretHash)
    }

    static func find(
        _ questions: [BrowserQuestion],
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<BrowserSession?, any Error>] {
        let now = questions.map(\.now).max() ?? Date()
        let place = Placement(questions.map(\.key.scope), shared: shared)
        let limits = RateLimits.taking(
            of: questions.map(\.limits),
            shared: shared,
            where: "EXISTS (SELECT FROM browser b WHERE b.number = n.number)",
            now: now
        )
        return try await database.query(
            """
            WITH browser AS MATERIALIZED (
                SELECT n.number, n.asking, n.idle_since, s.*, a.valid_since
                FROM unnest(\(questions.map(\.key.scope.project.rawValue))::text[],
                    \(questions.map(\.key.scope.tenant.rawValue))::text[],
                    \(questions.map(\.key.account.rawValue))::text[], \(questions.map(\.key.session.rawValue))::text[],
                    \(questions.map(\.secretHash))::bytea[], \(questions.map(\.client))::text[],
                    \(questions.map { $0.idleSince ?? .distantPast })::timestamptz[])
                    WITH ORDINALITY n (project, tenant, account, session, hash, asking, idle_since, number)
                JOIN \(sql: AccountRow.keyed(by: "n", place)) a ON \(sql: isUsable)
                JOIN \(sql: SessionRow.keyed(by: "n", session: "n.session", place)) s
                    ON \(sql: stands(since: "a.valid_since", now: now)) AND s.secret_hash = n.hash AND s.last_used_at >= n.idle_since
            ), \(sql: limits),
            used AS (
                UPDATE sessions s SET last_used_at = \(now)
                FROM (
                    SELECT l.project, l.tenant, l.account, l.session FROM browser b
                    JOIN sessions l ON l.project = \(sql: place.project(of: "b")) AND l.tenant = b.tenant
                        AND l.account = b.account AND l.session = b.session
                    WHERE b.last_used_at < \(now.addingTimeInterval(-60)) FOR NO KEY UPDATE OF l SKIP LOCKED
                ) l
                WHERE s.project = \(sql: place.project(of: "l")) AND s.tenant = l.tenant AND s.account = l.account AND s.session = l.session
            )
            SELECT s.number, ARRAY(
                    SELECT g.application_grant::text FROM sessions g
                    WHERE g.project = \(sql: place.project(of: "s")) AND g.tenant = s.tenant
                        AND g.account = s.account AND g.client = s.asking
                        AND g.revoked_at IS NULL AND g.auth_time >= s.valid_since AND g.last_used_at >= s.idle_since
                ), s.number IN (SELECT number FROM admitted), \(sql: SessionRow.columns),
                \(sql: AccountRow.columnsWithoutActivity)
            FROM browser s JOIN \(sql: AccountRow.keyed(by: "s", place)) a ON true
            \(sql: AccountRow.joinsWithoutActivity(place))
            """,
            into: BatchAnswers<BrowserSession?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in
                let grants: [String] = try row.next()
                let hasRoom: Bool = try row.next()
                guard let session = try SessionRow.decode(&row) else { return }
                let account = try AccountRow.decode(&row)
                guard found == nil else {
                    found?.account.add(account.linked)
                    return
                }
                found = BrowserSession(
                    session: session,
                    account: account,
                    granted: try grants.map { try ApplicationGrant(json: $0) },
                    hasRoom: hasRoom
                )
            }
        }.results
    }
}
