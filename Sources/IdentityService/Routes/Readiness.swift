import Accounts
import Federation
import Postgres
import Prometheus
import Sessions
import Storage

/// Whether the service can respond: required checks, and dependencies that do not affect readiness.
struct Readiness: Sendable {
    struct Check: Sendable {
        var name: String
        var outcome: Outcome
    }

    enum Outcome: String, Sendable {
        case ok
        case failed
        /// It could not be checked.
        case unknown
    }

    /// How long requests may wait for the database without any answer.
    private static let patience = Duration.seconds(3)

    private let look: SharedLook<[Check]>
    /// A failure here affects every node: it fails some requests, and taking nodes out of service for it would fail
    /// all.
    let dependencies: @Sendable () -> [Check]

    /// - Parameters:
    ///   - limit: how long a check waits for the database.
    ///   - migrationsAreCurrent: called on the connection of ``Storage/Stores/watch``.
    init(
        _ accounts: AccountsService,
        _ deliveries: DeliverMessages,
        within limit: Duration,
        migrationsAreCurrent: @escaping @Sendable (PostgresClient) async throws -> Bool
    ) {
        let stores = accounts.stores
        let signingKey: @Sendable () -> Check = {
            let isThere = stores.configuration.signingKeys.sign(with: .rs256)
            return Check(name: "signingKey", outcome: isThere ? .ok : .failed)
        }
        let projects: @Sendable () -> Check = {
            Check(name: "projects", outcome: stores.configuration.readsNoProject ? .failed : .ok)
        }
        let away: @Sendable () -> [Check] = {
            [
                Check(name: "database", outcome: .failed), Check(name: "migrations", outcome: .unknown), signingKey(),
                projects(), Check(name: "requests", outcome: .unknown),
            ]
        }
        // It may wait as requests do, and must leave time to say so.
        let anotherStatement = SharedLook(within: limit / 3, otherwise: {}) { try? await stores.database.ping() }
        let requests: @Sendable () async -> Check = {
            // A single slow statement is no standstill: another one is answered then.
            if stores.database.isStalled(for: Self.patience) { await anotherStatement.value() }
            return Check(name: "requests", outcome: stores.database.isStalled(for: Self.patience) ? .failed : .ok)
        }
        look = SharedLook(within: limit, otherwise: away) {
            guard let acceptsWrites = try? await stores.watch.acceptsWrites() else { return away() }
            let isCurrent = (try? await migrationsAreCurrent(stores.watch)) ?? false
            return [
                Check(name: "database", outcome: acceptsWrites ? .ok : .failed),
                Check(name: "migrations", outcome: isCurrent ? .ok : .failed), signingKey(), projects(),
                await requests(),
            ]
        }
        dependencies = {
            [
                Check(name: "mail", outcome: deliveries.mailServer.fails ? .failed : .ok),
                Check(name: "providers", outcome: accounts.federation.calls.failing.someFail ? .failed : .ok),
            ]
        }
    }

    func checks() async -> [Check] { await look.value() }
}
