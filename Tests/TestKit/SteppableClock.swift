package import struct Foundation.Date
import Synchronization

/// A clock that stands still until a test moves it.
package final class SteppableClock: Sendable {
    /// That of the service around a test.
    @TaskLocal static var ofService: SteppableClock?

    private let date: Mutex<Date>
    private let tick: Double

    /// - Parameters:
    ///   - start: the present by default, cut to whole seconds so that sums in tests come out even.
    ///   - tick: seconds by which each reading of ``now`` moves it on.
    package init(_ start: Date = Date(), tick: Double = 0) {
        self.tick = tick
        self.date = Mutex(Date(timeIntervalSince1970: start.timeIntervalSince1970.rounded(.down)))
    }

    /// For everything that takes a `now`.
    package var now: @Sendable () -> Date {
        {
            self.date.withLock { date in
                defer { date = date.addingTimeInterval(self.tick) }
                return date
            }
        }
    }

    package var current: Date { date.withLock { $0 } }

    /// Whole seconds since 1970.
    package var seconds: Int64 { Int64(current.timeIntervalSince1970) }

    /// - Parameter interval: seconds; negative to go back.
    package func advance(by interval: Double) {
        date.withLock { $0 = $0.addingTimeInterval(interval) }
    }

    package func set(_ date: Date) {
        self.date.withLock { $0 = date }
    }
}
