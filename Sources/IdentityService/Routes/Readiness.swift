import Postgres
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

    private let look: SharedLook<[Check]>
    /// A failure here affects every node: it fails some requests, and taking nodes out of service for it would fail
    /// all.
    let dependencies: @Sendable () -> [Check]

    /// - Parameters:
    ///   - migrationsAreCurrent: called on the connection of ``Storage/Stores/watch``.
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
        // An unavailable or silent database is reported within two seconds, with some reserve.
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
