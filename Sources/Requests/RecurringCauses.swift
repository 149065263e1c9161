import Synchronization

/// Causes that are logged once a minute, because each affects thousands of requests.
package final class RecurringCauses: Sendable {
    private let reported = Mutex<[String: ContinuousClock.Instant]>([:])

    package init() {}

    /// Whether the cause has not been reported for a minute; then it counts as reported now.
    ///
    /// - Parameter cause: of a limited number, such as a type and a code.
    package func isDue(_ cause: String, at now: ContinuousClock.Instant = .now) -> Bool {
        reported.withLock { reported in
            if let last = reported[cause], now < last + .seconds(60) { return false }
            reported[cause] = now
            return true
        }
    }
}
