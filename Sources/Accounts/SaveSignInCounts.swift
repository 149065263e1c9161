import AsyncAlgorithms
package import Logging
import Requests
import ServiceLifecycle
package import Storage

/// Adds a node's sign-in counts to the database, so that no sign-in has to.
///
/// A node that is killed loses the last ten seconds.
package struct SaveSignInCounts: Service {
    private let events: AccountEvents
    private let store: SignInCountStore
    private let logger: Logger
    private let causes = RecurringCauses()

    package init(events: AccountEvents, store: SignInCountStore, logger: Logger) {
        (self.events, self.store, self.logger) = (events, store, logger)
    }

    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(10), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks { await save() }
        await save()
    }

    /// Counts that cannot be saved now are saved the next time.
    package func save() async {
        do {
            try await events.save(in: store)
        } catch {
            guard causes.isDue("\(error)") else { return }
            logger.warning("Sign-in counts could not be saved", metadata: ["error": "\(error)"])
        }
    }
}
