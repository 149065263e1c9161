package import Domain
package import Foundation
package import OAuth
import Postgres
package import Projects
package import Sessions

/// The key of a session's row.
package struct SessionKey: Sendable, Hashable {
    package var scope: Scope
    package var account: AccountID
    package var session: SessionID

    package init(scope: Scope, account: AccountID, session: SessionID) {
        self.scope = scope
        self.account = account
        self.session = session
    }
}

/// A presented refresh token.
package struct RefreshQuestion: Sendable {
    package var key: SessionKey
    package var secretHash: [UInt8]
    /// The application whose token it is, after a space with the thumbprint of the key that it has proved to have; nil
    /// for an app of the project itself.
    package var client: String?
    /// The hash of the token's successor, if tokens rotate.
    package var successor: [UInt8]?
    /// A session that was last used before this time has ended; nil if idle sessions do not end.
    package var idleSince: Date?
    package var now: Date

    package init(
        key: SessionKey,
        secretHash: [UInt8],
        client: String? = nil,
        successor: [UInt8]?,
        idleSince: Date?,
        now: Date
    ) {
        self.key = key
        self.secretHash = secretHash
        self.client = client
        self.successor = successor
        self.idleSince = idleSince
        self.now = now
    }

    /// The hashes that its session may have if the token is good.
    ///
    /// Of two questions that have none in common, the statement writes at most one, even if both name one session: a
    /// wrong token does not stand in front of the right one.
    fileprivate var batchKeys: [[UInt8]] { [secretHash] + (successor.map { [$0] } ?? []) }
}

/// What a refresh token matched.
package struct RefreshCandidate: Sendable {
    package var session: StoredSession
    /// It was last used before ``RefreshQuestion/idleSince``.
    package var isIdle: Bool
    /// Nil if the account was deleted.
    package var account: Account?
    /// What the user granted the application; nil for the project's own apps.
    package var grant: ApplicationGrant?
    package var standing: Standing
    /// Of the session's current token, after its replacement.
    package var generation: Int

    /// The presented token's place among its session's tokens.
    package enum Standing: Sendable, Hashable {
        /// The current token, or the previous one within its rotation.
        case current
        /// Replaced by a sign-in that continued its session, with an unrelated token; `usedAt` is that token's first
        /// use, nil if unused.
        case renewed(usedAt: Date?)
        /// Replaced, without a grace period, by a change of the password or email.
        case retired
        /// Neither the current nor the previous token.
        case unknown
    }
}

enum RefreshAnswer: Sendable {
    case notFound
    /// Another transaction holds the row's lock.
    case busy
    /// Boxed: a candidate retains dozens of values, and results are passed between tasks.
    indirect case found(RefreshCandidate)
}

extension SessionStore {
    /// Finds a refresh token's session by key, compares the hashes, stores the successor if tokens rotate, and records
    /// the use at most once a minute.
    ///
    /// One statement, shared with other simultaneous refreshes.
    ///
    /// Nothing is written for a session that was idle for too long.
    ///
    /// - Returns: nil if there is no such session.
    /// - Throws: ``SessionContended``.
    package func refresh(_ question: RefreshQuestion) async throws -> RefreshCandidate? {
        var answer = try await refreshes.answer(to: question, for: question.batchKeys)
        // A request that finds the row locked waits for the lock on its own, then re-reads the row.
        for _ in 0..<3 {
            guard case .busy = answer else { break }
            answer = try await gate.pass(question.key.account, in: question.key.scope, .session) {
                try await Self.ask([question], skipsLocked: false, shared: batches, database.repeating).first?.get()
                    ?? .notFound
            }
        }
        if case .busy = answer { throw SessionContended() }
        guard case .found(let candidate) = answer else { return nil }
        return candidate
    }

    /// Looks up different refresh tokens with one statement.
    ///
    /// Rows that need no write are not locked. The others are locked in the order of their keys, so two nodes never
    /// deadlock; a row that changed since the statement started is left to the next attempt. It may run twice: the second
    /// time, a token that was replaced meets the same successor.
    static func ask(
        _ questions: [RefreshQuestion],
        skipsLocked: Bool,
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<RefreshAnswer, any Error>] {
        let now = questions.map(\.now).max() ?? Date()
        let parts = RefreshParts(
            place: Placement(questions.map(\.key.scope), shared: shared),
            skipsLocked: skipsLocked,
            now: now
        )
        let found = try await database.query(
            """
            WITH \(sql: parts.found(questions)), \(sql: parts.locked), \(sql: parts.used), \(sql: parts.due),
            \(sql: parts.activity)
            \(sql: parts.rows)
            """,
            into: BatchAnswers<RefreshRow?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in
                let credential = try AccountRow.decodeLinked(&row)
                // Further rows of an account differ only in the credential.
                if found == nil { found = try RefreshRow(&row) }
                if let credential { found?.candidate.account?.add([credential]) }
            }
        }
        return found.results.map { result in
            result.map { found in
                guard let found else { return .notFound }
                return found.isBusy ? .busy : .found(found.candidate)
            }
        }
    }

    /// The data that recognizes a token of any earlier generation; nil if there is no such session.
    ///
    /// - Throws: ``RateLimitReached``.
    package func history(of key: SessionKey, within limits: RateLimits) async throws -> SessionHistory? {
        let rows = try await database.query(
            """
            WITH \(sql: limits.taking)
            SELECT m.passed, s.secret_hash, s.generation, s.retired_below, s.rotations
            FROM limits m
            LEFT JOIN sessions s ON \(sql: limits.havePassed) AND s.project = \(key.scope.project.rawValue)
                AND s.tenant = \(key.scope.tenant.rawValue) AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue)
            """
        ) { row -> SessionHistory? in
            try limits.check(passed: try row.next())
            guard let hash: [UInt8] = try row.next() else { return nil }
            return SessionHistory(
                secretHash: hash,
                generation: Int(try row.next(Int32.self)),
                retiredBelow: try row.next(Int32?.self).map { Int($0) },
                rotations: try row.next()
            )
        }
        return rows.first ?? nil
    }
}

/// The parts of the statement of refreshes, in order.
private struct RefreshParts {
    let place: Placement
    let skipsLocked: Bool
    let now: Date

    /// The sessions, and what each presented token is to its session.
    func found(_ questions: [RefreshQuestion]) -> SQL {
        let due = now.addingTimeInterval(-60)
        let keyed = SessionRow.keyed(
            by: "n",
            session: "n.session",
            columns: skipsLocked ? "ctid AS place, *" : "*",
            place
        )
        return """
            found AS MATERIALIZED (
                SELECT n.number, n.next, s.*, s.last_used_at < \(due) AS is_due,
                    s.last_used_at < n.idle_since AS is_idle,
                    s.secret_hash IN (n.hash, n.next) AS is_known,
                    s.secret_hash = n.hash AND n.next <> '' AS rotates, s.previous_hash = n.hash AS is_previous
                FROM unnest(\(questions.map(\.key.scope.project.rawValue))::text[],
                    \(questions.map(\.key.scope.tenant.rawValue))::text[],
                    \(questions.map(\.key.account.rawValue))::text[], \(questions.map(\.key.session.rawValue))::text[],
                    \(questions.map(\.secretHash))::bytea[], \(questions.map { $0.successor ?? [] })::bytea[],
                    \(questions.map { $0.idleSince ?? .distantPast })::timestamptz[],
                    \(questions.map { $0.client ?? "" })::text[])
                    WITH ORDINALITY n (project, tenant, account, session, hash, next, idle_since, client, number)
                JOIN \(sql: keyed) s
                    ON coalesce(s.client || coalesce(' ' || (s.application_grant ->> 'keyThumbprint'), ''), '') = n.client
            )
            """
    }

    /// A session that must be written: its token rotates, its last use is a minute ago, or its new token is used for
    /// the first time.
    private static let isWritten: SQL = """
        s.is_known AND NOT s.is_idle
            AND (s.rotates OR s.is_due OR (s.previous_hash IS NOT NULL AND s.successor_used_at IS NULL))
        """

    /// The sessions to write, locked if they are as they were found.
    ///
    /// Statements of several questions find a row again by its place, which costs less than its key. That is PostgreSQL's
    /// own: those of one question, and so all of a node without batches, use the key alone.
    var locked: SQL {
        """
        locked AS MATERIALIZED (
            SELECT s.number, s.project, s.tenant, s.account, s.session, \(sql: skipsLocked ? "s.place," : "") s.is_due,
                CASE WHEN s.rotates THEN s.next END AS next
            FROM (SELECT * FROM found s WHERE \(sql: Self.isWritten) ORDER BY project, tenant, account, session OFFSET 0) s
            CROSS JOIN LATERAL (
                SELECT FROM sessions r
                WHERE \(sql: isSame("r", "s")) AND r.revoked_at IS NULL
                    AND r.secret_hash = s.secret_hash
                FOR NO KEY UPDATE \(sql: skipsLocked ? "SKIP LOCKED" : "")
            ) r
        )
        """
    }

    /// Stores the use and the next secret.
    var used: SQL {
        """
        used AS (
            UPDATE sessions s SET last_used_at = \(now), secret_hash = coalesce(k.next, s.secret_hash),
                generation = s.generation + (k.next IS NOT NULL)::int,
                rotations = CASE WHEN k.next IS NULL THEN s.rotations
                    ELSE \(sql: SessionStore.nextRotations(of: "s", now: now)) END,
                successor_used_at = CASE WHEN s.previous_hash IS NOT NULL
                    THEN coalesce(s.successor_used_at, \(now)) END
            FROM locked k
            WHERE \(sql: isSame("s", "k"))
        )
        """
    }

    private func isSame(_ row: SQL, _ other: SQL) -> SQL {
        skipsLocked
            ? "\(sql: row).ctid = \(sql: other).place"
            : """
            \(sql: row).project = \(sql: place.project(of: other)) AND \(sql: row).tenant = \(sql: other).tenant
            AND \(sql: row).account = \(sql: other).account AND \(sql: row).session = \(sql: other).session
            """
    }

    /// The accounts whose last refresh was a minute ago, locked.
    var due: SQL {
        """
        due AS MATERIALIZED (
            SELECT k.project, k.tenant, k.account
            FROM (SELECT * FROM locked WHERE is_due ORDER BY project, tenant, account OFFSET 0) k
            CROSS JOIN LATERAL (
                SELECT FROM account_activity
                WHERE project = \(sql: place.project(of: "k")) AND tenant = k.tenant AND account = k.account
                FOR NO KEY UPDATE \(sql: skipsLocked ? "SKIP LOCKED" : "")
            ) v
        )
        """
    }

    /// Stores the accounts' last refresh.
    var activity: SQL {
        """
        activity AS (
            UPDATE account_activity v SET last_refresh_at = \(now) FROM due d
            WHERE v.project = \(sql: place.project(of: "d")) AND v.tenant = d.tenant AND v.account = d.account
        )
        """
    }

    /// A row for each session and linked credential; one that could not be locked is to be asked again.
    var rows: SQL {
        """
        SELECT s.number, \(sql: AccountRow.linkedColumns),
            s.number NOT IN (SELECT number FROM locked) AND s.revoked_at IS NULL AND \(sql: Self.isWritten),
            s.is_idle, s.is_known, s.rotates, s.is_previous, s.successor_used_at = '-infinity',
            nullif(s.successor_used_at, '-infinity'), s.application_grant::text, \(sql: SessionRow.columns), a.account IS NOT NULL,
            \(sql: AccountRow.ownColumnsWithoutActivity)
        FROM found s
        LEFT JOIN \(sql: AccountRow.keyed(by: "s", place)) a ON a.merged_into IS NULL
        \(sql: AccountRow.joinsWithoutActivity(place))
        """
    }
}

/// A session's row changed each time a refresh tried to update it; the client must try again.
package struct SessionContended: Error {}

/// The history of a session's refresh tokens.
package struct SessionHistory: Sendable {
    package var secretHash: [UInt8]
    /// The number of replacements.
    package var generation: Int
    /// The generation with which a change of the password or email ended all tokens before; nil without one.
    package var retiredBelow: Int?
    /// The times of the last eight replacements, newest first.
    package var rotations: [Date]

    /// Whether a change of the password or email ended the token so many generations ago.
    package func isRetired(behind: Int) -> Bool { retiredBelow.map { generation - behind < $0 } ?? false }
}

/// A session with its account.
private struct RefreshRow {
    let isBusy: Bool
    var candidate: RefreshCandidate

    /// Nil if the row has no session.
    init?(_ row: inout PostgresRow) throws {
        isBusy = try row.next()
        let isIdle: Bool = try row.next()
        let isKnown: Bool = try row.next()
        let rotates: Bool = try row.next()
        let isPrevious: Bool = try row.next(Bool?.self) ?? false
        let isRetired: Bool = try row.next(Bool?.self) ?? false
        let successorUsedAt: Date? = try row.next()
        let grant: String? = try row.next()
        guard let session = try SessionRow.decode(&row) else { return nil }
        let exists: Bool = try row.next()
        let account = exists ? try AccountRow.decodeOwn(&row) : nil
        let standing: RefreshCandidate.Standing =
            if isKnown {
                .current
            } else if isPrevious {
                isRetired ? .retired : .renewed(usedAt: successorUsedAt)
            } else {
                .unknown
            }
        candidate = RefreshCandidate(
            session: session,
            isIdle: isIdle,
            account: account,
            grant: try grant.map { try ApplicationGrant(json: $0) },
            standing: standing,
            generation: session.generation + (rotates ? 1 : 0)
        )
    }
}
