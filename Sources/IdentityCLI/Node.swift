import Accounts
import Delivery
import Federation
import Foundation
import IdentityService
import Logging
import Outbound
import Passwords
import Postgres
import Projects
import ServiceLifecycle
import Storage
import UnixSignals

/// The running service, as `serve` and `dev` have it in common.
struct Node {
    private let outbound: OutboundClient
    var parts: Parts

    init(
        _ stores: Stores,
        deployment: Deployment,
        outbound policy: AddressPolicy,
        strangers: AddressPolicy = AddressPolicy(),
        authorities: OutboundAuthorities = OutboundAuthorities(),
        verifiers: [any CredentialVerifier] = []
    ) {
        outbound = OutboundClient(policy: policy, strangers: strangers, authorities: authorities)
        parts = Parts(
            stores: stores,
            federation: FederationService(http: outbound, now: { Date() }, verifiers: verifiers),
            passwords: PasswordHasher(workers: System.coreCount, queueLimit: 1_024),
            deployment: deployment,
            now: { Date() }
        )
        parts.functions = FunctionCaller(through: outbound)
        parts.captchas = CaptchaService(through: outbound)
        parts.messenger = Messenger(through: outbound)
    }

    /// - Parameter url: `passwords.leaked`.
    mutating func askAboutLeakedPasswords(at url: String) {
        parts.leakedPasswords = LeakedPasswordService(url, through: outbound)
    }

    /// Runs all services until SIGTERM or SIGINT; they stop in the reverse order.
    ///
    /// - Parameters:
    ///   - others: start before the work in the background.
    ///   - servers: start last.
    func run(
        _ assembly: ServiceAssembly,
        with others: [any Service],
        _ servers: [any Service],
        rotationDays: Int,
        logger: Logger
    ) async throws {
        let stores = parts.stores
        let background: [any Service] = [
            assembly.deliveries, assembly.signInCounts,
            Sweeper(database: stores.database, logger: logger, now: parts.clock),
            SigningKeyRotation(stores.configuration, days: rotationDays, logger: logger),
        ]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [stores.database, outbound, parts.passwords, stores.configuration] + others + background
                    + servers + [Stopping(database: stores.database)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
    }
}

/// Is told to stop before all other services, whose last statements then wait for no database that is away.
private struct Stopping: Service {
    let database: PostgresClient

    func run() async throws {
        try await gracefulShutdown()
        database.stopWaiting()
    }
}
