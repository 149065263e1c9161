import AsyncAlgorithms
package import Logging
package import Postgres
import ServiceLifecycle
package import struct Foundation.Date

/// Deletes what has expired: flows that nobody finished, pending credentials, hashes of used ID tokens, handled events,
/// messages that were delivered or given up, codes of mails and SMS, what limits remember.
///
/// Nothing depends on it but the size of the tables: whoever reads them looks at the time too. Several nodes sweep side
/// by side, each the rows that no other one holds.
package struct Sweeper: Service {
    private let database: PostgresClient
    private let logger: Logger
    private let now: @Sendable () -> Date

    package init(database: PostgresClient, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.logger = logger
        self.now = now
    }

    /// Sweeps once a minute until told to stop.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(60), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                try await sweep()
            } catch {
                logger.warning("Expired rows could not be deleted", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Deletes expired rows, at most a thousand at a time, so that no statement holds many locks.
    ///
    /// - Returns: how many rows went.
    @discardableResult
    package func sweep() async throws -> Int {
        let tables: [SQL] = [
            "flows", "pending_credentials", "used_id_tokens", "provider_events", "kept_names", "outbox",
            "oob_codes", "verification_codes", "rate_limits",
        ]
        var total = 0
        for table in tables {
            var deleted = 0
            repeat {
                deleted = try await database.execute(
                    """
                    DELETE FROM \(sql: table) WHERE ctid = ANY (ARRAY(
                        SELECT ctid FROM \(sql: table) WHERE expires_at < \(now()) LIMIT 1000 FOR UPDATE SKIP LOCKED
                    ))
                    """
                )
                total += deleted
            } while deleted == 1000
        }
        return total
    }
}
