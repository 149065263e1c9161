package import Domain
package import Federation
package import Foundation
package import Postgres
package import Projects
package import Secrets

/// Authorization requests between the redirect to the provider and the callback.
package struct FlowStore: Sendable {
    let keyRing: KeyRing
    private let begins: Batcher<Never, NewFlow, Bool>
    private let ends: Batcher<[UInt8], FlowProof, FlowAnswer>
    let database: PostgresClient
    private let batches: Bool

    /// - Parameter batches: whether simultaneous requests share a statement.
    package init(database: PostgresClient, keyRing: KeyRing, batches: Bool = true) {
        self.keyRing = keyRing
        self.database = database
        self.batches = batches
        begins = Batcher(isOn: batches) { try await Self.insert($0, shared: batches, database) }
        // In a batch, a request whose row is locked must not delay the others; alone, it waits.
        ends = Batcher(isOn: batches) { try await Self.end($0, skipsLocked: batches, shared: batches, database) }
    }

    /// The counts of each kind of batch, by name.
    var batchCounts: [(name: String, counts: BatchCounts)] {
        [("flow_begins", begins.counts), ("flow_ends", ends.counts)]
    }

    /// The purpose of a flow.
    package enum Purpose: String, Sendable {
        case signIn
        case link
        case reauthenticate
    }

    /// A flow that was consumed.
    package struct Consumed: Sendable {
        package var provider: ProviderID
        package var purpose: Purpose
        package var context: String?
        package var flow: AuthorizationFlow
    }

    /// Stores a flow under the hash of its state.
    ///
    /// - Parameters:
    ///   - sessionID: the secret that proves that the same client finishes; only its hash is stored.
    ///   - browser: the secret by which the handler page recognizes the browser; only its hash is stored.
    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ flow: AuthorizationFlow,
        state: Secret,
        sessionID: Secret,
        browser: Secret? = nil,
        purpose: Purpose,
        context: String?,
        within limits: RateLimits = .none,
        in scope: Scope,
        now: Date,
        lifetime: TimeInterval
    ) async throws {
        let stateHash = SecureHash.sha256(state.reveal())
        var limits = limits
        if limits.count > 1 {
            // One after another, so that the project's own refuses before the shared one counts.
            try await RateLimitStore(database: database).take(limits)
            limits = .none
        }
        let new = NewFlow(
            scope: scope,
            stateHash: stateHash,
            provider: flow.provider,
            sessionHash: SecureHash.sha256(sessionID.reveal()),
            browserHash: browser.map { SecureHash.sha256($0.reveal()) } ?? [],
            purpose: purpose,
            context: context ?? "",
            payload: try keyRing.seal(flow.json, for: Self.place(scope.project, stateHash)),
            limits: limits,
            now: now,
            expiresAt: now.addingTimeInterval(lifetime)
        )
        if try await begins.answer(to: new, for: nil) { return }
        // Together with others of the same address it exceeded the limit; alone it may still fit.
        if try await Self.insert([new], shared: batches, database) == [true] { return }
        try limits.check(passed: 0)
    }

    /// Stores several flows with one statement.
    ///
    /// - Returns: for each, whether its bucket had room.
    private static func insert(_ flows: [NewFlow], shared: Bool, _ database: PostgresClient) async throws -> [Bool] {
        let now = flows.map(\.now).max() ?? Date()
        let admitted = try await database.query(
            """
            WITH \(sql: RateLimits.taking(of: flows.map(\.limits), shared: shared, now: now)),
            begun AS (
            INSERT INTO flows (project, tenant, state_hash, provider, session_hash, browser_hash, purpose, context,
                payload, created_at, expires_at)
            SELECT n.project, n.tenant, n.state_hash, n.provider, n.session_hash, nullif(n.browser_hash, ''), n.purpose,
                nullif(n.context, ''), n.payload, n.created_at, n.expires_at
            FROM unnest(\(flows.map(\.scope.project.rawValue))::text[], \(flows.map(\.scope.tenant.rawValue))::text[],
                \(flows.map(\.stateHash))::bytea[], \(flows.map(\.provider.rawValue))::text[],
                \(flows.map(\.sessionHash))::bytea[], \(flows.map(\.browserHash))::bytea[],
                \(flows.map(\.purpose.rawValue))::text[], \(flows.map(\.context))::text[],
                \(flows.map(\.payload))::bytea[], \(flows.map(\.now))::timestamptz[],
                \(flows.map(\.expiresAt))::timestamptz[]) WITH ORDINALITY n (project, tenant, state_hash, provider,
                session_hash, browser_hash, purpose, context, payload, created_at, expires_at, number)
            JOIN admitted USING (number)
            )
            SELECT number FROM admitted
            """
        ) { row in Int(try row.next(Int64.self)) - 1 }
        var answers = [Bool](repeating: false, count: flows.count)
        for index in admitted where answers.indices.contains(index) { answers[index] = true }
        return answers
    }

    /// Ends a flow, once: of simultaneous callbacks, the one whose statement deletes the row gets it.
    ///
    /// The caller proves itself with the flow's session ID, or with a value whose SHA-256 in hexadecimal is that ID
    /// (iOS gives the handler the hash and keeps the value).
    ///
    /// - Returns: nil if the state is unknown, expired, used, or of another client, project or tenant.
    package func consume(state: String, sessionID: String, in scope: Scope, now: Date) async throws -> Consumed? {
        let proof = FlowProof(
            scope: scope,
            stateHash: SecureHash.sha256(state),
            sessionHash: SecureHash.sha256(sessionID),
            hashedSessionHash: SecureHash.sha256(SecureHash.sha256Hex(sessionID)),
            now: now
        )
        var answer = try await ends.answer(to: proof, for: proof.stateHash)
        // A request that finds the row locked waits for the lock on its own: the row still exists only if the other
        // transaction failed.
        if case .busy = answer {
            answer = try await Self.end([proof], skipsLocked: false, shared: batches, database).first ?? .notFound
        }
        guard case .found(let row) = answer else { return nil }
        return try open(row, proof.stateHash, in: scope)
    }

    /// A flow of another release that this one cannot read counts as expired.
    func open(_ row: FlowRow, _ stateHash: [UInt8], in scope: Scope) throws -> Consumed? {
        guard let purpose = Purpose(rawValue: row.purpose) else { return nil }
        let payload = try keyRing.open(row.payload, for: Self.place(scope.project, stateHash))
        guard let flow = AuthorizationFlow(json: payload, stateHash: stateHash) else { return nil }
        return Consumed(provider: ProviderID(row.provider), purpose: purpose, context: row.context, flow: flow)
    }

    /// Ends several flows with one statement, locked in the order of their keys, so that two nodes never deadlock.
    private static func end(
        _ proofs: [FlowProof],
        skipsLocked: Bool,
        shared: Bool,
        _ database: PostgresClient
    ) async throws -> [FlowAnswer] {
        let skip: SQL = skipsLocked ? "SKIP LOCKED" : ""
        let place = Placement(proofs.map(\.scope), shared: shared)
        let rows = try await database.query(
            """
            WITH found AS MATERIALIZED (
                SELECT n.number, f.project, f.state_hash
                FROM unnest(\(proofs.map(\.scope.project.rawValue))::text[],
                    \(proofs.map(\.scope.tenant.rawValue))::text[], \(proofs.map(\.stateHash))::bytea[],
                    \(proofs.map(\.sessionHash))::bytea[], \(proofs.map(\.hashedSessionHash))::bytea[],
                    \(proofs.map(\.now))::timestamptz[])
                    WITH ORDINALITY n (project, tenant, state_hash, session_hash, hashed_session_hash, now, number)
                JOIN flows f ON f.project = \(sql: place.project(of: "n")) AND f.state_hash = n.state_hash
                WHERE f.tenant = n.tenant AND f.session_hash IN (n.session_hash, n.hashed_session_hash)
                    AND f.expires_at > n.now
            ), locked AS MATERIALIZED (
                SELECT d.number, f.project, f.state_hash
                FROM found d JOIN flows f ON f.project = \(sql: place.project(of: "d")) AND f.state_hash = d.state_hash
                ORDER BY f.project, f.state_hash
                FOR UPDATE OF f \(sql: skip)
            ), ended AS (
                DELETE FROM flows f USING locked k WHERE f.project = \(sql: place.project(of: "k")) AND f.state_hash = k.state_hash
                RETURNING k.number, f.provider, f.purpose, f.context, f.payload
            )
            SELECT d.number, e.provider, e.purpose, e.context, e.payload
            FROM found d LEFT JOIN ended e ON e.number = d.number
            """
        ) { row in (Int(try row.next(Int64.self)) - 1, try FlowRow(&row)) }
        var answers = [FlowAnswer](repeating: .notFound, count: proofs.count)
        for (index, row) in rows where answers.indices.contains(index) {
            answers[index] = row.map { .found($0) } ?? .busy
        }
        return answers
    }

    static func place(_ project: ProjectID, _ stateHash: [UInt8]) -> String {
        "flows/\(project)/\(stateHash.lowercaseHex)"
    }
}

private struct NewFlow: Sendable {
    var scope: Scope
    var stateHash: [UInt8]
    var provider: ProviderID
    var sessionHash: [UInt8]
    /// Empty for none.
    var browserHash: [UInt8]
    var purpose: FlowStore.Purpose
    /// Empty for none.
    var context: String
    var payload: [UInt8]
    var limits: RateLimits
    var now: Date
    var expiresAt: Date
}

/// The values that a callback presents.
private struct FlowProof: Sendable {
    var scope: Scope
    var stateHash: [UInt8]
    var sessionHash: [UInt8]
    var hashedSessionHash: [UInt8]
    var now: Date
}

private enum FlowAnswer: Sendable {
    case notFound
    /// Another transaction holds the row's lock, or just held it.
    case busy
    case found(FlowRow)
}

struct FlowRow: Sendable {
    var provider: String
    var purpose: String
    var context: String?
    var payload: [UInt8]

    /// Nil for a row of NULLs.
    init?(_ row: inout PostgresRow) throws {
        let (provider, purpose): (String?, String?) = (try row.next(), try row.next())
        let (context, payload): (String?, [UInt8]?) = (try row.next(), try row.next())
        guard let provider, let purpose, let payload else { return nil }
        self.init(provider: provider, purpose: purpose, context: context, payload: payload)
    }

    private init(provider: String, purpose: String, context: String?, payload: [UInt8]) {
        self.provider = provider
        self.purpose = purpose
        self.context = context
        self.payload = payload
    }
}
