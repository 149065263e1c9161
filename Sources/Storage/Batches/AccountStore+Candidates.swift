package import Domain
import Federation
import Foundation
import Postgres
package import Projects
package import Sessions

/// The accounts that a sign-in could apply to.
package struct SignInCandidates: Sendable {
    /// The account that has the identity linked.
    package var owner: Account?
    /// The issuer with which the identity was linked.
    package var ownerIssuer: String?
    /// The account whose own email is the identity's.
    package var emailOwner: Account?
    /// The account of the caller's ID token, with its session.
    package var signedIn: Account?
    package var session: StoredSession?
    /// Whether the owner was signed in: the requested session was opened.
    package var isOpened = false
    /// Whether the owner's grant counts as revoked at the provider.
    package var isWithdrawn = false
    /// Whether the provider reported that someone else may be using the owner's account there.
    package var isBlocked = false
}

extension AccountStore {
    /// Reads everything that decides a federated sign-in or link, in one statement shared with other simultaneous
    /// sign-ins.
    ///
    /// The statement also signs in to the account that owns the identity (S1, D1) if it only has to write the session.
    /// It locks accounts in the order of their keys. It leaves to ``carry(out:making:_:)`` an account that is locked, that
    /// changed since the statement started, that may need a second factor, that takes the identity's email, whose
    /// one-time token was used before, or that was signed in to too often.
    ///
    /// Everything that removes an identity from an account counts as a change of the account, and either sees the new
    /// session or precedes it.
    ///
    /// - Parameters:
    ///   - caller: the account and session of the request's ID token.
    ///   - write: the sign-in to the owner.
    package func candidates(
        for identity: FederatedIdentity,
        caller: (account: AccountID, session: SessionID)? = nil,
        opening write: SignInWrite? = nil,
        in scope: Scope
    ) async throws -> SignInCandidates {
        let question = CandidatesQuestion(
            scope: scope,
            identity: identity,
            account: caller?.account,
            session: caller?.session,
            // A statement of one request only reads.
            opening: batches ? write.flatMap(OpeningSession.init) : nil
        )
        do {
            return try await candidateReads.answer(to: question, for: question.opening?.token?.hash)
        } catch let error as PostgresError where question.opening != nil && error.constraint != nil {
            // The token was used at the same time, by another node or by this statement before its connection was lost.
            // Now it can be seen which.
            return try await candidateReads.answer(to: question, for: question.opening?.token?.hash)
        }
    }

    static func candidates(
        _ questions: [CandidatesQuestion],
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<SignInCandidates, any Error>] {
        let place = Placement(questions.map(\.scope), shared: shared)
        var statement: SQL = """
            WITH \(sql: CandidateParts.asked(questions)), \(sql: CandidateParts.owner(place)),
            \(sql: CandidateParts.holder(place)), \(sql: CandidateParts.meant), \(sql: CandidateParts.found(place))
            """
        if shared {
            let now = questions.compactMap { $0.opening?.now }.max() ?? Date()
            statement = """
                \(sql: statement),
                \(sql: CandidateParts.chosen(now: now)), \(sql: CandidateParts.used),
                \(sql: CandidateParts.target), \(sql: NewSession.opening(now: now, where: "is_open IS NULL"))
                """
        }
        statement = "\(sql: statement) \(sql: CandidateParts.rows(place, opens: shared))"
        return try await database.query(
            statement,
            into: BatchAnswers(repeating: SignInCandidates(), count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in try CandidateRow(&row).add(to: &found) }
        }.results
    }
}

extension AccountStore {
    /// Joins to each row `n` of a sign-in whether its provider is enabled, as `p.enabled`; NULL if it is not configured.
    static func providerIsEnabled(_ place: Placement) -> SQL {
        """
        LEFT JOIN LATERAL (
            SELECT enabled FROM provider_configurations
            WHERE project = \(sql: place.project(of: "n")) AND tenant = n.tenant AND provider = n.provider OFFSET 0
        ) p ON true
        """
    }
}

/// The parts of the statement of sign-ins, in order.
private enum CandidateParts {
    /// The identity of each sign-in with the session to open, numbered.
    static func asked(_ questions: [CandidatesQuestion]) -> SQL {
        let opening = questions.map(\.opening)
        return """
            asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                    \(questions.map(\.scope.tenant.rawValue))::text[],
                    \(questions.map(\.identity.provider.rawValue))::text[], \(questions.map(\.identity.subject))::text[],
                    \(questions.map(\.identity.issuer))::text[],
                    \(questions.map { $0.identity.email?.canonical ?? "" })::text[],
                    \(questions.map { $0.account?.rawValue ?? "" })::text[],
                    \(questions.map { $0.session?.rawValue ?? "" })::text[],
                    \(sql: NewSession.arrays(of: opening.map { $0?.session })),
                    \(opening.map { $0?.allowsUnconfiguredProvider ?? false })::bool[],
                    \(opening.map { $0?.token?.hash ?? [] })::bytea[],
                    \(opening.map { Double($0?.token?.expiresAt ?? 0) })::float8[],
                    \(opening.map { $0?.adoptsEmail ?? false })::bool[]) WITH ORDINALITY
                    n (project, tenant, provider, subject, issuer, email_key, caller, session,
                        \(sql: NewSession.arrayNames), unconfigured, token_hash, token_expires, adopts, number)
            )
            """
    }

    /// The account that has the identity linked.
    static func owner(_ place: Placement) -> SQL {
        """
        owner AS MATERIALIZED (
            SELECT n.number, c.account, c.issuer, c.revoked_at, c.blocked_at FROM asked n
            CROSS JOIN LATERAL (
                SELECT account, issuer, revoked_at, blocked_at FROM credential_subjects
                WHERE project = \(sql: place.project(of: "n")) AND tenant = n.tenant AND provider = n.provider
                    AND subject = n.subject OFFSET 0
            ) c
        )
        """
    }

    /// The account whose own email is the identity's.
    static func holder(_ place: Placement) -> SQL {
        """
        holder AS MATERIALIZED (
            SELECT n.number, e.account FROM asked n
            CROSS JOIN LATERAL (
                SELECT account FROM account_emails
                WHERE project = \(sql: place.project(of: "n")) AND tenant = n.tenant AND email_key = n.email_key OFFSET 0
            ) e
        )
        """
    }

    /// These two and the caller's account, each once.
    static let meant: SQL = """
        meant AS (
            SELECT number, account FROM owner UNION SELECT number, account FROM holder
            UNION SELECT number, caller FROM asked WHERE caller <> ''
        )
        """

    /// The rows of these accounts when the statement started, and what each account is to the sign-in.
    static func found(_ place: Placement) -> SQL {
        """
        found AS MATERIALIZED (
            SELECT n.number, n.session, o.account IS NOT NULL AS is_owner, h.account IS NOT NULL AS is_holder, o.issuer,
                o.revoked_at IS NOT NULL AS is_withdrawn, o.blocked_at IS NOT NULL AS is_blocked,
                n.caller = a.account AS is_caller, a.*
            FROM meant m
            JOIN asked n ON n.number = m.number
            CROSS JOIN \(sql: AccountRow.keyed(by: "n", account: "m.account", place)) a
            LEFT JOIN owner o ON o.number = m.number AND o.account = m.account
            LEFT JOIN holder h ON h.number = m.number AND h.account = m.account
        )
        """
    }

    /// The owners to which a sign-in only has to add a session, locked in the version that was read.
    static func chosen(now: Date) -> SQL {
        """
        chosen AS MATERIALIZED (
            SELECT c.*, a.account, a.valid_since
            FROM (
                SELECT n.*, f.account AS owner, f.version
                FROM found f
                JOIN asked n ON n.number = f.number
                \(sql: AccountStore.providerIsEnabled(.ofEachRow))
                WHERE f.is_owner AND n.new_session <> '' AND f.disabled IS NOT TRUE AND f.second_factors IS NULL
                    AND coalesce(f.issuer, '') IN ('', n.issuer) AND coalesce(p.enabled, n.unconfigured)
                    AND NOT f.is_withdrawn AND NOT f.is_blocked
                    AND (f.email IS NOT NULL OR NOT n.adopts
                        OR EXISTS (SELECT FROM holder h WHERE h.number = n.number))
                    AND \(sql: SignInPace.hasRoom(by: "f", within: "n.room", now: now))
                ORDER BY f.project, f.tenant, f.account OFFSET 0
            ) c
            CROSS JOIN LATERAL (
                SELECT account, valid_since FROM accounts
                WHERE project = c.project AND tenant = c.tenant AND account = c.owner AND version = c.version
                FOR SHARE SKIP LOCKED
            ) a
        )
        """
    }

    /// The one-time tokens that this statement uses up, because none has been used before.
    static let used: SQL = """
        used AS (
            INSERT INTO used_id_tokens (project, token_hash, expires_at)
            SELECT project, token_hash, to_timestamp(token_expires) FROM chosen c
            WHERE token_hash <> '' AND (
                SELECT true FROM used_id_tokens u WHERE u.project = c.project AND u.token_hash = c.token_hash
            ) IS NOT TRUE
            ORDER BY project, token_hash
            RETURNING project, token_hash
        )
        """

    /// The sign-ins that open a session here; the others are left to ``AccountStore/carry(out:making:_:)``.
    ///
    /// A statement that runs again finds the session that it opened before, which must not have ended since.
    static let target: SQL = """
        target AS MATERIALIZED (
            SELECT * FROM (
                SELECT *, (
                    SELECT s.revoked_at IS NULL AND s.auth_time >= c.valid_since FROM sessions s
                    WHERE s.project = c.project AND s.tenant = c.tenant
                        AND s.account = c.account AND s.session = c.new_session
                ) AS is_open
                FROM chosen c
            ) c
            WHERE coalesce(
                is_open, token_hash = '' OR (project, token_hash) IN (SELECT project, token_hash FROM used)
            )
        )
        """

    /// A row for each account and linked credential.
    static func rows(_ place: Placement, opens: Bool) -> SQL {
        let (isOpened, target): (SQL, SQL) =
            opens ? ("t.number IS NOT NULL", "LEFT JOIN target t ON t.number = a.number") : ("false", "")
        return """
            SELECT a.number, \(sql: AccountRow.columnsWithoutActivity), a.is_owner, a.is_holder, a.is_caller, a.issuer,
                a.is_owner AND \(sql: isOpened), a.is_withdrawn, a.is_blocked, \(sql: SessionRow.columns)
            FROM found a
            \(sql: target)
            \(sql: AccountRow.joinsWithoutActivity(place))
            LEFT JOIN \(sql: SessionRow.keyed(by: "a", session: "a.session", place)) s ON a.is_caller
            """
    }
}

struct CandidatesQuestion: Sendable {
    var scope: Scope
    var identity: FederatedIdentity
    /// The account of the request's ID token.
    var account: AccountID?
    var session: SessionID?
    var opening: OpeningSession?
}

/// A sign-in that writes only a session, and nothing of the provider.
struct OpeningSession: Sendable {
    var session: NewSession
    var token: FederatedCredential.OneTimeToken?
    var allowsUnconfiguredProvider: Bool
    /// Whether the identity has an email for an account without one, which is more to write.
    var adoptsEmail: Bool
    var now: Date

    /// Nil for a sign-in that writes more.
    init?(_ write: SignInWrite) {
        guard write.redeems == nil, write.keptTokens == nil, !write.credential.nameComesOnce,
            !write.credential.lacksNameSaidOnce,
            case .open(let session) = write.session
        else { return nil }
        self.session = session
        token = write.credential.oneTimeToken
        allowsUnconfiguredProvider = write.allowsUnconfiguredProvider
        adoptsEmail = write.adoptsEmail && write.credential.identity.email != nil
        now = write.now
    }
}

/// An account that a sign-in could apply to, with at most one of its linked credentials.
private struct CandidateRow: Sendable {
    private let account: Account
    private let isOwner: Bool
    private let isEmailOwner: Bool
    private let isCaller: Bool
    private let issuer: String?
    private let isOpened: Bool
    private let isWithdrawn: Bool
    private let isBlocked: Bool
    private let session: StoredSession?

    init(_ row: inout PostgresRow) throws {
        account = try AccountRow.decode(&row)
        isOwner = try row.next()
        isEmailOwner = try row.next()
        isCaller = try row.next()
        issuer = try row.next()
        isOpened = try row.next()
        isWithdrawn = try row.next()
        isBlocked = try row.next()
        session = try SessionRow.decode(&row)
    }

    func add(to found: inout SignInCandidates) {
        if isOwner {
            Self.add(account, to: &found.owner)
            found.ownerIssuer = issuer
            found.isOpened = isOpened
            found.isWithdrawn = isWithdrawn
            found.isBlocked = isBlocked
        }
        if isEmailOwner { Self.add(account, to: &found.emailOwner) }
        if isCaller {
            Self.add(account, to: &found.signedIn)
            found.session = session
        }
    }

    private static func add(_ account: Account, to found: inout Account?) {
        if found == nil { found = account } else { found?.add(account.linked) }
    }
}
