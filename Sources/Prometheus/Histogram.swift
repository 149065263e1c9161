/// Counts of values up to each of several bounds, and their sum.
package struct Histogram: Sendable, Hashable {
    /// The upper bounds, ascending, inclusive; values above the last are counted separately.
    package let bounds: [Double]
    /// Values up to each bound and above the previous one; one more than there are bounds.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    package mutating func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    package var count: UInt64 { counts.reduce(0, +) }

    /// Durations of requests and waits in seconds, from half a millisecond to ten seconds.
    package static let seconds = Histogram(
        bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    )

    /// Sizes of batches, up to 64.
    package static let sizes = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64])
}

extension Duration {
    /// With a fraction.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
