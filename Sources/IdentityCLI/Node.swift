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
    let accounts: AccountsService

    /// - Parameter leakedPasswords: the URL of the list, `passwords.leaked`.
    init(
        _ stores: Stores,
        _ options: AccountsService.Options,
        deployment: Deployment,
        leakedPasswords: String? = nil,
        outbound policy: AddressPolicy,
        strangers: AddressPolicy = AddressPolicy(),
        authorities: OutboundAuthorities = OutboundAuthorities(),
        verifiers: [any CredentialVerifier] = []
    ) {
        outbound = OutboundClient(policy: policy, strangers: strangers, authorities: authorities)
        var options = options
        options.functions = FunctionCaller(through: outbound)
        options.captchas = CaptchaService(through: outbound)
        options.messenger = Messenger(through: outbound)
        if let leakedPasswords { options.leakedPasswords = LeakedPasswordService(leakedPasswords, through: outbound) }
        accounts = AccountsService(
            stores: stores,
            federation: FederationService(http: outbound, now: { Date() }, verifiers: verifiers),
            passwords: PasswordHasher(workers: System.coreCount, queueLimit: 1_024),
            deployment: deployment,
            options: options,
            now: { Date() }
        )
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
