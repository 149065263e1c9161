import Synchronization

/// Counts by a key with few values, whatever clients send.
package final class Tally<Key: Hashable & Sendable>: Sendable {
    private let state = Mutex<[Key: UInt64]>([:])

    package init() {}

    package var counts: [Key: UInt64] { state.withLock { $0 } }

    package func add(_ key: Key) { state.withLock { $0[key, default: 0] += 1 } }
}

/// Durations by a key with few values.
package final class Timings<Key: Hashable & Sendable>: Sendable {
    private let state = Mutex<[Key: Histogram]>([:])

    package init() {}

    package var histograms: [Key: Histogram] { state.withLock { $0 } }

    package func record(_ key: Key, _ duration: Duration) {
        let seconds = duration.seconds
        state.withLock { $0[key, default: .seconds].record(seconds) }
    }
}

/// Whether the last result of each of a few services was a failure.
package final class Latest: Sendable {
    private let failing = Mutex<Set<String>>([])

    package init() {}

    package var someFail: Bool { failing.withLock { !$0.isEmpty } }
    /// The names of those that fail, sorted.
    package var names: [String] { failing.withLock { $0.sorted() } }

    package func set(_ name: String, fails: Bool) {
        failing.withLock { if fails { _ = $0.insert(name) } else { _ = $0.remove(name) } }
    }
}
