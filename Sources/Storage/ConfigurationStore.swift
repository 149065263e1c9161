import AsyncAlgorithms
package import Logging
package import Postgres
package import Projects
package import Secrets
import ServiceLifecycle
package import Sessions
import Synchronization
package import struct Foundation.Date

/// The node's view of projects, keys, providers and signing keys, and the statements that change them.
///
/// Every change moves the one version row; each node looks at that row twice a second and reads all again when it
/// moved, so that no view is older than that. What a decision depends on is checked again where it is written.
package final class ConfigurationStore: Service, Sendable {
    let database: PostgresClient
    private let watch: PostgresClient
    let keyRing: KeyRing
    let random: RandomSource
    package let now: @Sendable () -> Date
    let logger: Logger
    private let state = Mutex(State())
    let adminReads: Batcher<Never, AdminQuestion, AdminCredential?>

    private struct State {
        var snapshot = ConfigurationSnapshot.empty
        var signingKeys: [SigningPurpose: SigningKeys] = [:]
        var confirmed = ContinuousClock.now
        var signingKeyTimeline = SigningKeyTimeline([])
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

    /// How long ago the view was last known to be the database's.
    package var age: Duration { .now - state.withLock { $0.confirmed } }
    package var snapshot: ConfigurationSnapshot { state.withLock { $0.snapshot } }
    /// Of ID tokens.
    package var signingKeys: SigningKeys { signingKeys(for: .idToken) }
    /// Of session cookies: a set of their own, so that neither verifies as the other.
    package var cookieKeys: SigningKeys { signingKeys(for: .sessionCookie) }

    /// The dates of all signing keys, as they were at a version of the configuration.
    package var signingKeyTimeline: (keys: SigningKeyTimeline, version: Int64) {
        state.withLock { ($0.signingKeyTimeline, $0.snapshot.version) }
    }

    func signingKeys(for purpose: SigningPurpose) -> SigningKeys {
        state.withLock { $0.signingKeys[purpose] } ?? SigningKeys([SigningKey]())
    }

    /// Looks for changes twice a second until told to stop.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .milliseconds(500), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                try await refresh()
            } catch {
                logger.warning("Configuration could not be read", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Reads everything again if the version row moved.
    package func refresh() async throws {
        let asked = ContinuousClock.now
        let version = try await watch.query("SELECT version FROM configuration") { try $0.next(Int64.self) }
        guard let version = version.first, version != snapshot.version else {
            return state.withLock { $0.confirmed = max($0.confirmed, asked) }
        }
        try await load()
    }

    /// Reads everything.
    ///
    /// The version comes first: a change in between is seen by the next look.
    package func load() async throws {
        let asked = ContinuousClock.now
        let version = try await database.query("SELECT version FROM configuration") { try $0.next(Int64.self) }
        let projects = try await readProjects()
        let keys = try await database.query(
            "SELECT key, project FROM api_keys WHERE revoked_at IS NULL"
        ) { row in (try row.next(String.self), try row.next(String.self)) }
        let snapshot = ConfigurationSnapshot(
            version: version.first ?? 0,
            projects: projects,
            apiKeys: keys.compactMap { key, project in
                ProjectID(rawValue: project).map { (APIKey(rawValue: key), $0) }
            },
            providers: try await readProviders(),
            serviceAccountKeys: try await readServiceAccountKeys(where: "NOT disabled").map(\.key)
        )
        let signingKeys = try await readSigningKeys()
        state.withLock { state in
            guard snapshot.version >= state.snapshot.version else { return }
            state.snapshot = snapshot
            state.confirmed = max(state.confirmed, asked)
            (state.signingKeys, state.signingKeyTimeline) = (signingKeys.keys, signingKeys.timeline)
        }
    }

    /// What `read` makes of a row; nil, and an error in the log, for one that cannot be read: it must not keep all the
    /// others, revocations among them, from being seen.
    func readable<Value>(_ what: String, _ read: () throws -> Value) -> Value? {
        do {
            return try read()
        } catch {
            logger.error("Skipped unreadable configuration", metadata: ["what": "\(what)", "error": "\(error)"])
            return nil
        }
    }

    /// Runs a statement and moves the version with it, then reads the new state here.
    ///
    /// - Parameters:
    ///   - change: must return the rows that it changed.
    ///   - entry: what the audit log says of each; of its project, when `ofRows` says that the rows have it.
    /// - Returns: how many rows it changed.
    func changing(_ change: SQL, recording entry: AuditEntry, ofRows: Bool = false) async throws -> Int {
        let project: SQL? = ofRows ? "coalesce(project, '')" : nil
        let changed = try await database.query(
            """
            WITH change AS (\(sql: change)), audit AS (\(sql: entry.insertion(from: "change", project: project))), version AS (
                UPDATE configuration SET version = version + 1 WHERE EXISTS (SELECT FROM change)
            )
            SELECT count(*) FROM change
            """
        ) { try $0.next(Int64.self) }
        try await load()
        return Int(changed.first ?? 0)
    }
}

/// Why a change of configuration was refused.
package enum ConfigurationError: Error, Sendable, Equatable {
    case alreadyExists
    case notFound
    /// The row was made by a newer release or under another encryption key.
    case unreadable(String)
}
