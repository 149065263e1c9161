import AsyncAlgorithms
package import Logging
import ServiceLifecycle

/// Rotates signing keys: checks every minute what is due.
///
/// It runs on every node; the first node does the work for all.
package struct SigningKeyRotation: Service {
    private let configuration: ConfigurationStore
    private let period: Int64?
    private let logger: Logger

    /// - Parameter days: days for which a key signs; 0 for no rotation.
    package init(_ configuration: ConfigurationStore, days: Int, logger: Logger) {
        self.configuration = configuration
        self.period = days == 0 ? nil : Int64(days) * 86_400
        self.logger = logger
    }

    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(60), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks { await rotate() }
    }

    /// The work of one tick.
    package func rotate() async {
        do {
            try await configuration.rotateSigningKeys(every: period)
        } catch {
            logger.warning("Signing keys could not be changed", metadata: ["error": "\(error)"])
        }
    }
}
