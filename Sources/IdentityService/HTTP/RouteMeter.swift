import Prometheus
import Synchronization

/// Counts the results of a route's requests.
package final class RouteMeter: Sendable {
    struct Counts: Sendable {
        /// Seconds, by status.
        var durations: [Int: Histogram] = [:]
        /// Errors by our own code.
        var errors: [String: UInt64] = [:]
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func record(status: Int, code: String?, _ duration: Duration) {
        let seconds = duration.seconds
        state.withLock { counts in
            counts.durations[status, default: .seconds].record(seconds)
            if let code { counts.errors[code, default: 0] += 1 }
        }
    }
}
