import Postgres
import Sessions
import Storage

/// Whether the service can answer: what must be true for that, and what it merely leans on.
struct Readiness: Sendable {
    struct Check: Sendable {
        var name: String
        var outcome: Outcome
    }

    enum Outcome: String, Sendable {
        case ok
        case failed
        /// It could not be asked.
        case unknown
    }

    private let look: SharedLook<[Check]>
    /// What fails here fails on every node: it costs some requests, and would cost all if the node were taken out for it.
    let dependencies: @Sendable () -> [Check]

    /// - Parameters:
    ///   - migrationsAreCurrent: asked on the connection of ``Storage/Stores/watch``.
    init(
        _ stores: Stores,
        migrationsAreCurrent: @escaping @Sendable (PostgresClient) async throws -> Bool,
        dependencies: @escaping @Sendable () -> [Check]
    ) {
        let signingKey: @Sendable () -> Check = {
            let isThere = stores.configuration.signingKeys.sign(with: .rs256)
            return Check(name: "signingKey", outcome: isThere ? .ok : .failed)
        }
        let away: @Sendable () -> [Check] = {
            [Check(name: "database", outcome: .failed), Check(name: "migrations", outcome: .unknown), signingKey()]
        }
        // A database that is away or says nothing is told within two seconds, with some to spare.
        look = SharedLook(within: .milliseconds(1500), otherwise: away) {
            guard (try? await stores.watch.ping()) != nil else { return away() }
            let isCurrent = (try? await migrationsAreCurrent(stores.watch)) ?? false
            return [
                Check(name: "database", outcome: .ok),
                Check(name: "migrations", outcome: isCurrent ? .ok : .failed), signingKey(),
            ]
        }
        self.dependencies = dependencies
    }

    func checks() async -> [Check] { await look.value() }
}
