package import Logging
package import Postgres
package import Secrets
package import struct Foundation.Date

/// All stores of one database.
package struct Stores: Sendable {
    package let database: PostgresClient
    /// A separate connection for work that must not wait behind requests: checks of the database, and of configuration
    /// changes.
    package let watch: PostgresClient
    package let keyRing: KeyRing
    package let configuration: ConfigurationStore
    package let accounts: AccountStore
    package let sessions: SessionStore
    package let flows: FlowStore
    package let pendingCredentials: PendingCredentialStore
    package let providerTokens: ProviderTokenStore
    package let outbox: OutboxStore
    package let keptNames: KeptNameStore
    package let oobCodes: OOBCodeStore
    package let verificationCodes: VerificationCodeStore
    package let rateLimits: RateLimitStore
    package let auditLog: AuditLogStore
    package let console: ConsoleStore
    package let signInCounts: SignInCountStore
    package let sealed: KeyRingStore
    package let oauthClients: OAuthClientStore
    package let deviceCodes: DeviceCodeStore
    /// Whether simultaneous requests share a statement.
    let batches: Bool
    /// The accounts that this node adds.
    package let growth = Growth()

    /// - Parameter watch: a client with one connection; default: one configured like `database`.
    package init(
        database: PostgresClient,
        watch: PostgresClient? = nil,
        keyRing: KeyRing,
        logger: Logger,
        random: RandomSource = .system,
        batches: Bool = true,
        now: @escaping @Sendable () -> Date
    ) {
        self.database = database
        self.batches = batches
        let watch = watch ?? database.watch()
        self.watch = watch
        self.keyRing = keyRing
        configuration = ConfigurationStore(
            database: database,
            watch: watch,
            keyRing: keyRing,
            logger: logger,
            random: random,
            batches: batches,
            now: now
        )
        oauthClients = OAuthClientStore(configuration: configuration)
        deviceCodes = DeviceCodeStore(database: database, keyRing: keyRing)
        let gate = AccountGate()
        accounts = AccountStore(database: database, keyRing: keyRing, gate: gate, growth: growth, batches: batches)
        sessions = SessionStore(database: database, keyRing: keyRing, gate: gate, batches: batches)
        flows = FlowStore(database: database, keyRing: keyRing, batches: batches)
        pendingCredentials = PendingCredentialStore(database: database, keyRing: keyRing, batches: batches)
        providerTokens = ProviderTokenStore(database: database, keyRing: keyRing)
        outbox = OutboxStore(database: database, keyRing: keyRing)
        keptNames = KeptNameStore(database: database, keyRing: keyRing)
        oobCodes = OOBCodeStore(database: database, keyRing: keyRing, batches: batches)
        verificationCodes = VerificationCodeStore(database: database, keyRing: keyRing)
        rateLimits = RateLimitStore(database: database)
        auditLog = AuditLogStore(database: database)
        console = ConsoleStore(database: database, keyRing: keyRing, random: random)
        signInCounts = SignInCountStore(database: database)
        sealed = KeyRingStore(database: database, keyRing: keyRing)
    }

    /// The counts of each kind of batch, by name.
    package var batchCounts: [(name: String, counts: BatchCounts)] {
        sessions.batchCounts + accounts.batchCounts + flows.batchCounts
            + [
                ("conflict", pendingCredentials.inserts.counts), ("code", oobCodes.reads.counts),
                ("admin", configuration.adminReads.counts), ("configuration", configuration.readings.counts),
            ]
    }
}
