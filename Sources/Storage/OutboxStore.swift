package import Domain
package import Foundation
import Postgres
package import Projects
package import Requests
package import Secrets

/// Outgoing messages and deferred work: written by the transaction that causes them, or before what they follow, and
/// delivered at least once.
///
/// A message is leased to the node that attempts it; if the node dies, it is due again when the lease ends. The payload
/// is sealed, and erased when the message is delivered or given up, except a webhook's; the row is deleted a month later.
package struct OutboxStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    package struct Message: Sendable {
        package var project: ProjectID
        package var id: String
        package var kind: String
        /// The client that is told; empty for the project's own receiver of the kind.
        package var receiver: String
        /// Or why this node's key ring cannot open it.
        package var payload: Result<[UInt8], KeyRingError>
        /// Including this attempt.
        package var attempts: Int
        /// The identity that it is about has been linked again, to any account.
        package var isLinkedAgain: Bool
        package var subject: Subject
        package var createdAt: Date
        /// When it is no longer useful; nil for never.
        package var expiresAt: Date?
        /// The trace of the request that caused it.
        package var trace: TraceContext?

        package var summary: Summary {
            Summary(project: project, id: id, kind: kind, attempts: attempts, trace: trace, subject: subject)
        }

        package var destination: Destination { Destination(project: project, kind: kind, receiver: receiver) }
    }

    /// What takes messages: a project's receiver of a kind.
    package struct Destination: Sendable, Hashable {
        package var project: ProjectID
        package var kind: String
        /// A client; empty for the project's own receiver.
        package var receiver: String

        package init(project: ProjectID, kind: String, receiver: String = "") {
            self.project = project
            self.kind = kind
            self.receiver = receiver
        }
    }

    /// How long a finished message is kept, in seconds.
    private static let lifetime = 30.0 * 86_400

    /// Leases messages that are due, including expired ones.
    ///
    /// Projects take turns: first is the one with the fewest messages in progress, and of several the one whose message
    /// is longest overdue. So do the receivers of a project; a message of one that has nothing in progress on any node,
    /// and nothing to be tried again, goes before that of one that may hang.
    ///
    /// Reads only messages that it may take: those of each destination from their place in an index, so that another
    /// destination's backlog costs nothing, however long it is. But an index keeps what was delivered for as long as an old
    /// transaction could see it, which only `since` passes over.
    ///
    /// - Parameters:
    ///   - kinds: those that this node delivers; messages of others wait for nodes that do.
    ///   - additions: what it delivers besides.
    ///   - receivers: those that it takes nothing for now.
    ///   - projects: those that it takes nothing for now.
    ///   - inProgress: the messages of each project that it delivers already.
    ///   - since: takes only messages that became due after it; nil for all that are due.
    ///   - lease: seconds for which no other worker takes them.
    package func take(
        _ kinds: [String],
        and additions: [Destination] = [],
        except receivers: [Destination] = [],
        andAllOf projects: [ProjectID] = [],
        inProgress: [ProjectID: Int] = [:],
        limit: Int,
        since: Date? = nil,
        lease: TimeInterval,
        now: Date
    ) async throws -> [Message] {
        let allKinds = Set(kinds + additions.map(\.kind)).sorted()
        let isMeant: SQL = """
            (kind = ANY (\(kinds)::text[]) OR (kind, project) IN (
                    SELECT * FROM unnest(\(additions.map(\.kind))::text[],
                        \(additions.map(\.project.rawValue))::text[])
                ))
                AND project <> ALL (\(projects.map(\.rawValue))::text[])
                AND (kind, project, receiver) NOT IN (
                    SELECT * FROM unnest(\(receivers.map(\.kind))::text[],
                        \(receivers.map(\.project.rawValue))::text[], \(receivers.map(\.receiver))::text[])
                )
            """
        guard database.engine == .postgresql else {
            return try await takeSpread(
                isMeant,
                inProgress: inProgress,
                limit: limit,
                since: since,
                lease: lease,
                now: now
            )
        }
        let busy = Array(inProgress)
        // Candidates are locked one after another, until there are enough. The condition is one that no partial index has, so
        // each is found by its key.
        let due = since.map { Due.recently(allKinds, since: $0, now: now) } ?? .ever(allKinds, now: now)
        let rows = try await database.query(
            """
            WITH RECURSIVE \(sql: due.destinations), served AS MATERIALIZED (
                SELECT kind, project, receiver, (
                    SELECT true FROM outbox m
                    WHERE \(sql: Self.isWaiting) AND m.kind = d.kind AND m.project = d.project
                        AND m.receiver = d.receiver AND m.next_attempt_at > \(now)
                    ORDER BY m.kind, m.project, m.receiver, m.next_attempt_at LIMIT 1
                ) IS NOT NULL AS holds
                FROM destinations d
                WHERE \(sql: isMeant)
            ), candidates AS MATERIALIZED (
                SELECT m.project, m.message, m.next_attempt_at, coalesce(b.messages, 0) + row_number() OVER (
                    PARTITION BY m.project ORDER BY m.turn, v.holds, m.next_attempt_at
                ) AS place
                FROM served v CROSS JOIN LATERAL (
                    SELECT *, row_number() OVER (ORDER BY next_attempt_at) AS turn FROM (
                        \(sql: due.messages)
                    ) m
                ) m
                LEFT JOIN unnest(\(busy.map(\.key.rawValue))::text[], \(busy.map { Int64($0.value) })::bigint[])
                    b (project, messages) ON b.project = m.project
                ORDER BY place, m.next_attempt_at LIMIT \(sql: Self.candidates)
            )
            UPDATE outbox o SET attempts = attempts + 1, next_attempt_at = \(now.addingTimeInterval(lease))
            FROM (
                SELECT l.project, l.message FROM candidates c CROSS JOIN LATERAL (
                    SELECT project, message FROM outbox
                    WHERE project = c.project AND message = c.message
                        AND coalesce(delivered_at, abandoned_at) IS NULL AND next_attempt_at = c.next_attempt_at
                    FOR UPDATE SKIP LOCKED
                ) l LIMIT \(limit)
            ) due
            WHERE o.project = due.project AND o.message = due.message
            RETURNING \(sql: Self.leased("o.project"))
            """
        ) { try message(&$0) }
        return rows.compactMap(\.self)
    }

    /// What ``message(_:)`` reads of a leased row `o`.
    static func leased(_ project: SQL) -> SQL {
        """
        o.project, o.message, o.kind, o.receiver, o.payload, o.attempts, EXISTS (
            SELECT FROM credential_subjects c WHERE c.project = \(sql: project) AND c.tenant = o.tenant
                AND c.provider = o.provider AND c.subject = o.subject
        ), o.created_at, o.expires_at, o.trace_parent, o.trace_state
        """
    }

    func message(_ row: inout PostgresRow) throws -> Message? {
        let (project, id): (String, String) = (try row.next(), try row.next())
        let (kind, receiver, payload): (String, String, [UInt8]) = (try row.next(), try row.next(), try row.next())
        let (attempts, isLinkedAgain): (Int32, Bool) = (try row.next(), try row.next())
        let (createdAt, expiresAt): (Date, Date?) = (try row.next(), try row.next())
        let (parent, state): (String?, String?) = (try row.next(), try row.next())
        guard let project = ProjectID(rawValue: project) else { return nil }
        // An unreadable message must not block the delivery of the others.
        let opened = Result { () throws(KeyRingError) in try keyRing.open(payload, for: Self.place(project, id)) }
        return Message(
            project: project,
            id: id,
            kind: kind,
            receiver: receiver,
            payload: opened,
            attempts: Int(attempts),
            isLinkedAgain: isLinkedAgain,
            subject: Subject(in: try? opened.get()),
            createdAt: createdAt,
            expiresAt: expiresAt,
            trace: parent.flatMap { TraceContext(parent: [$0], state: state.map { [$0] } ?? []) }
        )
    }

    /// The destinations that have messages, and the messages of one of them (`v`) that are due.
    private struct Due {
        var destinations: SQL
        var messages: SQL

        /// From each destination's place in an index.
        static func ever(_ kinds: [String], now: Date) -> Due {
            Due(
                destinations: """
                    destinations AS (
                        SELECT n.kind, n.project, n.receiver FROM unnest(\(kinds)::text[]) k (kind) CROSS JOIN LATERAL (
                            SELECT kind, project, receiver FROM outbox WHERE \(sql: isWaiting) AND kind = k.kind
                            ORDER BY kind, project, receiver LIMIT 1
                        ) n
                        UNION ALL
                        SELECT n.kind, n.project, n.receiver FROM destinations d CROSS JOIN LATERAL (
                            SELECT kind, project, receiver FROM outbox
                            WHERE \(sql: isWaiting) AND kind = d.kind AND (project, receiver) > (d.project, d.receiver)
                            ORDER BY kind, project, receiver LIMIT 1
                        ) n
                    )
                    """,
                messages: """
                    SELECT project, message, next_attempt_at FROM outbox
                    WHERE \(sql: isWaiting)
                        AND (kind, project, receiver, next_attempt_at) >= (v.kind, v.project, v.receiver, '-infinity')
                        AND (kind, project, receiver, next_attempt_at) <= (v.kind, v.project, v.receiver, \(now))
                    ORDER BY kind, project, receiver, next_attempt_at LIMIT \(sql: candidates)
                    """
            )
        }

        /// From the place of `since` in an index of the time alone.
        static func recently(_ kinds: [String], since: Date, now: Date) -> Due {
            Due(
                destinations: """
                    recent AS MATERIALIZED (
                        SELECT kind, project, receiver, message, next_attempt_at FROM outbox
                        WHERE \(sql: isWaiting) AND next_attempt_at > \(since) AND next_attempt_at <= \(now)
                            AND kind = ANY (\(kinds)::text[])
                        ORDER BY next_attempt_at LIMIT \(sql: candidates)
                    ), destinations AS (SELECT DISTINCT kind, project, receiver FROM recent)
                    """,
                messages: """
                    SELECT project, message, next_attempt_at FROM recent
                    WHERE kind = v.kind AND project = v.project AND receiver = v.receiver
                    """
            )
        }
    }

    /// What the log says of a message.
    package struct Summary: Sendable {
        package var project: ProjectID
        package var id: String
        package var kind: String
        package var attempts: Int
        package var trace: TraceContext?
        package var subject: Subject
    }

    /// What a message says, and of whom: nothing that a log must not contain.
    package struct Subject: Sendable, Decodable {
        /// Of a webhook, or the template of an email.
        package var type: String?
        package var account: String?

        /// Empty for what cannot be read.
        init(in payload: [UInt8]?) {
            self = payload.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0)) } ?? Subject()
        }

        private init() {}

        private enum Key: String, CodingKey { case type, template, account, data, localId }

        package init(from decoder: any Decoder) throws {
            let content = try decoder.container(keyedBy: Key.self)
            let data = try? content.nestedContainer(keyedBy: Key.self, forKey: .data)
            type =
                try (try? content.decodeIfPresent(String.self, forKey: .type))
                ?? content.decodeIfPresent(String.self, forKey: .template)
            account =
                try (try? content.decodeIfPresent(String.self, forKey: .account))
                ?? data?.decodeIfPresent(String.self, forKey: .localId)
        }
    }

    /// Gives up expired messages that are due, of every kind, also those that no node delivers; a thousand at most.
    package func giveUpExpired(now: Date) async throws -> [Summary] {
        let expired: SQL = "outbox WHERE \(sql: Self.isWaiting) AND expires_at <= \(now) AND next_attempt_at <= \(now)"
        var summaries: [Summary] = []
        for place in try await Placement.all(in: expired, database) {
            summaries += try await giveUpExpired(at: place, now)
        }
        return summaries
    }

    private func giveUpExpired(at place: Placement, _ now: Date) async throws -> [Summary] {
        try await database.query(
            """
            UPDATE outbox o SET abandoned_at = \(now), expires_at = \(now.addingTimeInterval(Self.lifetime)),
                payload = CASE WHEN o.kind = ANY(\(Self.resendable)) THEN o.payload ELSE '' END
            FROM (
                SELECT project, message, payload FROM outbox
                WHERE \(sql: Self.isWaiting) AND expires_at <= \(now) AND next_attempt_at <= \(now)
                    \(sql: place.condition(on: "outbox"))
                ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
            ) e
            WHERE o.project = \(sql: place.project(of: "e")) AND o.message = e.message
            RETURNING o.project, o.message, o.kind, o.attempts, o.trace_parent, o.trace_state, e.payload
            """
        ) { row in try summary(&row) }.compactMap(\.self)
    }

    /// Of the project, message, kind, attempts, trace and payload.
    func summary(_ row: inout PostgresRow) throws -> Summary? {
        let (project, id, kind): (String, String, String) = (try row.next(), try row.next(), try row.next())
        let attempts = Int(try row.next(Int32.self))
        let (parent, state): (String?, String?) = (try row.next(), try row.next())
        let payload = try row.next([UInt8].self)
        return ProjectID(rawValue: project).map { project in
            Summary(
                project: project,
                id: id,
                kind: kind,
                attempts: attempts,
                trace: parent.flatMap { TraceContext(parent: [$0], state: state.map { [$0] } ?? []) },
                subject: Subject(in: try? keyRing.open(payload, for: Self.place(project, id)))
            )
        }
    }

    static let isWaiting: SQL = "delivered_at IS NULL AND abandoned_at IS NULL"

    /// More than a node takes at once, as other nodes may take some of them at the same time.
    ///
    /// A literal, so that the planner knows that it reads a few rows of an index.
    private static let candidates: SQL = "256"

    /// The payloads of undelivered messages, oldest first.
    package func waiting(_ kind: String, in scope: Scope) async throws -> [[UInt8]] {
        try await database.query(
            """
            SELECT message, payload FROM outbox
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND kind = \(kind)
                AND delivered_at IS NULL AND abandoned_at IS NULL
            ORDER BY created_at, message
            """
        ) { row in (try row.next(String.self), try row.next([UInt8].self)) }
        .compactMap { id, payload in try? keyRing.open(payload, for: Self.place(scope.project, id)) }
    }

    package enum Outcome: Sendable {
        case delivered
        case retry(at: Date)
        /// The rest is due immediately, on any node.
        case partly(rest: [UInt8])
        case abandoned
    }

    /// Keeps a message that is being delivered from other nodes for longer.
    package func extend(_ message: Message, until date: Date) async throws {
        try await database.execute(
            """
            UPDATE outbox SET next_attempt_at = \(date)
            WHERE project = \(message.project.rawValue) AND message = \(message.id)
                AND attempts = \(Int32(message.attempts)) AND \(sql: Self.isWaiting)
            """
        )
    }

    /// Notes the outcome of an attempt; of one whose lease ended, so that another node attempts it again, only success.
    package func settle(_ message: Message, _ outcome: Outcome, now: Date) async throws {
        let (delivered, abandoned, next, payload): (Date?, Date?, Date?, [UInt8]?) =
            switch outcome {
            case .delivered: (now, nil, nil, [])
            case .abandoned: (nil, now, nil, Self.resendable.contains(message.kind) ? nil : [])
            case .retry(let date): (nil, nil, date, nil)
            case .partly(let rest):
                (nil, nil, now, try keyRing.seal(rest, for: Self.place(message.project, message.id)))
            }
        let expiry = (delivered ?? abandoned)?.addingTimeInterval(Self.lifetime)
        try await database.execute(
            """
            UPDATE outbox SET delivered_at = \(delivered), abandoned_at = \(abandoned),
                next_attempt_at = coalesce(\(next), next_attempt_at), expires_at = coalesce(\(expiry), expires_at),
                payload = coalesce(\(payload), payload)
            WHERE project = \(message.project.rawValue) AND message = \(message.id) AND delivered_at IS NULL
                AND (\(delivered != nil) OR attempts = \(Int32(message.attempts)))
            """
        )
    }

    /// Writes a message that is not about an account.
    package func insert(
        kind: String,
        _ payload: some Encodable & Sendable,
        of provider: ProviderID,
        in scope: Scope,
        due: Date
    ) async throws {
        try await Self.insert(
            kind: kind,
            payload,
            about: nil,
            of: provider,
            in: scope,
            keyRing: keyRing,
            due: due,
            database
        )
    }

    /// Writes a message within the transaction that causes it.
    ///
    /// - Parameter subject: the subject at the provider that loses its link in the same transaction.
    static func insert(
        kind: String,
        _ payload: some Encodable & Sendable,
        about subject: String?,
        of provider: ProviderID,
        in scope: Scope,
        keyRing: KeyRing,
        due: Date,
        _ executor: some PostgresExecutor
    ) async throws {
        try await executor.execute(
            try insertion(kind: kind, payload, about: subject, of: provider, in: scope, keyRing: keyRing, due: due)
        )
    }

    /// The statement that writes a message.
    ///
    /// - Parameters:
    ///   - receiver: the client that is told; empty for the project's own receiver of the kind.
    ///   - expiry: when it is no longer useful, delivered or not.
    ///   - isDecoy: it counts as delivered.
    ///   - source: the part of the statement without whose row nothing is written.
    static func insertion(
        kind: String,
        _ payload: some Encodable & Sendable,
        about subject: String? = nil,
        of provider: ProviderID? = nil,
        to receiver: String = "",
        in scope: Scope,
        keyRing: KeyRing,
        due: Date,
        expiry: Date? = nil,
        isDecoy: Bool = false,
        from source: SQL? = nil
    ) throws -> SQL {
        let id = UUID().uuidString.lowercased()
        let sealed = try keyRing.seal(json: payload, for: place(scope.project, id))
        let delivered: Date? = isDecoy ? due : nil
        let trace = RequestContext.current.trace
        let values: SQL = """
            \(scope.project.rawValue), \(id), \(kind), \(receiver), \(sealed), \(scope.tenant.rawValue),
                \(provider?.rawValue), \(subject), \(due), \(due), \(delivered), \(expiry),
                \(trace?.parent()), \(trace?.state)
            """
        return """
            INSERT INTO outbox (project, message, kind, receiver, payload, tenant, provider, subject, next_attempt_at,
                created_at, delivered_at, expires_at, trace_parent, trace_state)
            \(sql: source.map { "SELECT \(sql: values) FROM \(sql: $0)" } ?? "VALUES (\(sql: values))")
            """
    }

    static func place(_ project: ProjectID, _ id: String) -> String { "outbox/\(project)/\(id)" }
}
