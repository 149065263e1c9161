import AsyncAlgorithms
package import Foundation
package import Logging
package import Postgres
package import Projects
import Requests
package import Secrets
import ServiceLifecycle
package import Sessions
import Synchronization

/// The node's view of projects, keys, providers and signing keys, and the statements that change them.
///
/// Every change updates the single version row. Each node reads that row twice a second and reloads everything if it
/// differs from the view's, also if it went back, so no view is older than that. Writes check again whatever they depend on.
package final class ConfigurationStore: Service, Sendable {
    let database: PostgresClient
    private let watch: PostgresClient
    let keyRing: KeyRing
    let random: RandomSource
    package let now: @Sendable () -> Date
    let logger: Logger
    private let state = Mutex(State())
    let looks = Mutex(UnknownLooks())
    private let causes = RecurringCauses()
    /// Changes wait for the version's row, of which there is one, and so of all projects (T-E11).
    let changes = ProjectGate(width: 2, queueLimit: 64)
    /// Revocations of keys, which wait for no other changes: a thief could make those all the time.
    let revocations = ProjectGate(width: 1, queueLimit: 64)
    /// Those that clients make of themselves, which nobody of the project chose.
    let changesByClients = ProjectGate(width: 1, queueLimit: 8)
    /// Deletions of all that a tenant has take long, and are no reason for others to wait.
    let deletions = ProjectGate(width: 1, queueLimit: 8)
    let adminReads: Batcher<Never, AdminQuestion, AdminCredential?>
    let readings = Batcher<Never, @Sendable () async throws -> Void, Void>(
        limit: .max,
        patience: .zero,
        asking: { calls in
            try await calls.first?()
            return calls.map { _ in .success(()) }
        }
    )

    private struct State {
        var snapshot = ConfigurationSnapshot.empty
        var signingKeys: [SigningPurpose: SigningKeys] = [:]
        var confirmed = ContinuousClock.now
        var signingKeyTimeline = SigningKeyTimeline([])
        var losses = 0
        var readsNoProject = false
    }

    package init(
        database: PostgresClient,
        watch: PostgresClient,
        keyRing: KeyRing,
        logger: Logger,
        random: RandomSource = .system,
        batches: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.database = database
        self.watch = watch
        self.keyRing = keyRing
        self.logger = logger
        self.random = random
        self.now = now
        adminReads = Batcher(isOn: batches, asking: { try await Self.adminCredentials($0, database) })
    }

    /// The time since the view was last known to be current.
    package var age: Duration { .now - state.withLock { $0.confirmed } }
    package var snapshot: ConfigurationSnapshot { state.withLock { $0.snapshot } }
    /// The signing keys of ID tokens.
    package var signingKeys: SigningKeys { signingKeys(for: .idToken) }
    /// The signing keys of session cookies, a separate set, so that neither verifies as the other.
    package var cookieKeys: SigningKeys { signingKeys(for: .sessionCookie) }

    /// The dates of all signing keys.
    package var signingKeyTimeline: SigningKeyTimeline { state.withLock(\.signingKeyTimeline) }

    /// How often the database had lost changes that the node knew.
    package var losses: Int { state.withLock { $0.losses } }

    /// Whether there are projects and the node can read none of them, because it lacks their encryption key.
    package var readsNoProject: Bool { state.withLock { $0.readsNoProject } }

    func noteProjects(found: Int, read: Int) { state.withLock { $0.readsNoProject = found > 0 && read == 0 } }

    func signingKeys(for purpose: SigningPurpose) -> SigningKeys {
        state.withLock { $0.signingKeys[purpose] } ?? SigningKeys([SigningKey]())
    }

    /// Checks for changes twice a second until stopped.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .milliseconds(500), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                try await refresh()
            } catch {
                guard causes.isDue("\(error)") else { continue }
                logger.warning("Configuration could not be read", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Reloads everything if the version row changed.
    package func refresh() async throws {
        let asked = ContinuousClock.now
        guard let version = try await Self.version(in: watch), version != snapshot.version else {
            return state.withLock { $0.confirmed = max($0.confirmed, asked) }
        }
        try await load()
    }

    /// Reads everything; calls that come while it is being read share the next reading.
    package func load() async throws {
        try await readings.answer(to: read, for: nil)
    }

    private static func version(in database: PostgresClient) async throws -> ConfigurationVersion? {
        try await database.query("SELECT version, epoch FROM configuration") { row in
            ConfigurationVersion(number: try row.next(), epoch: try row.next())
        }.first
    }

    /// The version is read first, so the next check sees a change in between.
    private func read() async throws {
        let asked = ContinuousClock.now
        let version = try await Self.version(in: database)
        let projects = try await readProjects()
        let keys = try await database.query(
            "SELECT key, project FROM api_keys WHERE revoked_at IS NULL"
        ) { row in (try row.next(String.self), try row.next(String.self)) }
        let snapshot = ConfigurationSnapshot(
            version: version ?? .none,
            projects: projects,
            apiKeys: keys.compactMap { key, project in
                ProjectID(rawValue: project).map { (APIKey(rawValue: key), $0) }
            },
            providers: try await readProviders(),
            serviceAccountKeys: try await current(ServiceAccountKey.self),
            workloads: try await current(Workload.self)
        )
        let signingKeys = try await readSigningKeys()
        // Readings follow one another, so none is older than the view.
        let before = state.withLock { state in
            defer { state.snapshot = snapshot }
            if snapshot.version.isBehind(state.snapshot.version) { state.losses += 1 }
            state.confirmed = max(state.confirmed, asked)
            (state.signingKeys, state.signingKeyTimeline) = (signingKeys.keys, signingKeys.timeline)
            return state.snapshot.version
        }
        guard snapshot.version.isBehind(before) else { return }
        logger.warning(
            "The database has lost changes of the configuration: it was restored, or a server took over without them",
            metadata: ["version": "\(snapshot.version.number)", "known": "\(before.number)"]
        )
    }

    /// The result of `read` for a row; nil, with an error in the log, for an unreadable row, which must not hide the
    /// others, including revocations.
    func readable<Value>(_ what: String, _ read: () throws -> Value) -> Value? {
        do {
            return try read()
        } catch {
            logger.error("Skipped unreadable configuration", metadata: ["what": "\(what)", "error": "\(error)"])
            return nil
        }
    }

    /// Runs a statement, updates the version with it, then reads the new state on this node.
    ///
    /// - Parameters:
    ///   - change: must return the changed rows.
    ///   - entry: the audit entry for each; `ofRows` takes its project from the rows.
    ///   - project: the one that gets more to keep; nil for none.
    ///   - owner: whose key it revokes; nil for another change, or any project's.
    /// - Throws: ``ConfigurationError/notFound`` if no row was changed; ``ConfigurationError/tooLarge``.
    func changing(
        _ change: SQL,
        recording entry: AuditEntry,
        ofRows: Bool = false,
        adding project: ProjectID? = nil,
        revoking owner: ProjectID? = nil
    ) async throws {
        let changed = try await inTurn(of: entry.scope?.project, revoking: owner) {
            try await database.transaction { transaction in
                guard let project else { return try await Self.record(change, entry, ofRows: ofRows, transaction) }
                return try await Self.keepingSize(of: project, transaction) {
                    try await Self.record(change, entry, ofRows: ofRows, transaction)
                }
            }
        }
        guard changed else { throw ConfigurationError.notFound }
        try await load()
    }

    /// The same, with another statement in the same transaction, if the first has changed anything.
    func changing(
        _ change: SQL,
        recording entry: AuditEntry,
        of project: ProjectID,
        through gate: ProjectGate,
        then next: SQL
    ) async throws {
        let isChanged = try await transactionInTurn(of: project, through: gate) { transaction in
            guard try await Self.record(change, entry, transaction) else { return false }
            transaction.write(next)
            return true
        }
        guard isChanged else { throw ConfigurationError.notFound }
        try await load()
    }

    /// Waits without a connection until a project may change its configuration; the deployment's waits for none.
    ///
    /// - Throws: ``PostgresError/Code/overloaded`` if too many changes of the project wait.
    private func inTurn<Result>(
        of project: ProjectID?,
        revoking owner: ProjectID?,
        _ change: () async throws -> Result
    ) async throws -> Result {
        if let owner { return try await revocations.pass(owner, change) }
        guard let project else { return try await change() }
        return try await changes.pass(project, change)
    }

    /// Makes a change, and writes what goes with it if there was anything to change.
    ///
    /// - Returns: whether there was.
    private static func record(
        _ change: SQL,
        _ entry: AuditEntry,
        ofRows: Bool = false,
        _ transaction: PostgresTransaction
    ) async throws -> Bool {
        let projects = try await transaction.query(change) { ofRows ? try $0.next(String?.self) ?? "" : "" }
        guard !projects.isEmpty else { return false }
        for project in projects { transaction.write(entry.insertion(project: ofRows ? "\(project)" : nil)) }
        transaction.write(nextVersion)
        return true
    }

    /// A transaction that changes a project's configuration, in its turn.
    ///
    /// - Parameter gate: ``changes`` unless it is named.
    /// - Throws: ``PostgresError/Code/overloaded`` if too many changes of the project wait.
    func transactionInTurn<T: Sendable>(
        of project: ProjectID,
        through gate: ProjectGate? = nil,
        _ body: @Sendable (PostgresTransaction) async throws -> T
    ) async throws -> T {
        try await (gate ?? changes).pass(project) { try await database.transaction(body) }
    }

    static var nextVersion: SQL {
        "UPDATE configuration SET version = version + 1, epoch = \(UUID().uuidString.lowercased())"
    }

    /// Writes a change with its audit entry and the new version.
    ///
    /// The version's row is the last that a transaction locks: all changes of all projects wait for it.
    static func record(written change: SQL, _ entry: AuditEntry, _ transaction: PostgresTransaction) {
        transaction.write(change)
        transaction.write(entry.insertion())
        transaction.write(nextVersion)
    }
}

/// Why a configuration change was refused.
package enum ConfigurationError: Error, Sendable, Equatable {
    case alreadyExists
    case notFound
    /// Users' stored tokens would be sent elsewhere.
    case tokensKept
    /// What users granted the application before it was blocked has not ended yet.
    case endingGrants
    /// A project would have more than ``ConfigurationStore/projectSize``.
    case tooLarge
    /// The row was written by a newer release or under another encryption key.
    case unreadable(String)
}
