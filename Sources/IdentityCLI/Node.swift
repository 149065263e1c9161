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
    var accounts: AccountsService

    init(
        _ stores: Stores,
        deployment: Deployment,
        outbound policy: AddressPolicy,
        strangers: AddressPolicy = AddressPolicy(),
        authorities: OutboundAuthorities = OutboundAuthorities(),
        verifiers: [any CredentialVerifier] = []
    ) {
        outbound = OutboundClient(policy: policy, strangers: strangers, authorities: authorities)
        accounts = AccountsService(
            stores: stores,
            federation: FederationService(http: outbound, now: { Date() }, verifiers: verifiers),
            passwords: PasswordHasher(workers: System.coreCount, queueLimit: 1_024),
            deployment: deployment,
            now: { Date() }
        )
        accounts.functions = FunctionCaller(through: outbound)
        accounts.captchas = CaptchaService(through: outbound)
        accounts.messenger = Messenger(through: outbound)
    }

    /// - Parameter url: `passwords.leaked`.
    mutating func askAboutLeakedPasswords(at url: String) {
        accounts.leakedPasswords = LeakedPasswordService(url, through: outbound)
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
        let stores = accounts.stores
        let background: [any Service] = [
            assembly.deliveries, assembly.signInCounts,
            Sweeper(database: stores.database, logger: logger, now: accounts.clock),
            SigningKeyRotation(stores.configuration, days: rotationDays, logger: logger),
        ]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [stores.database, outbound, accounts.passwords, stores.configuration] + others + background
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
