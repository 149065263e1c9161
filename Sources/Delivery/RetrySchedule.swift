package import struct Foundation.Date
import Secrets

/// When a message that could not be delivered is retried: after seconds at first, after half a day at the end.
package struct RetrySchedule: Sendable {
    /// Seconds before the second attempt; each later delay is three times the one before.
    package var first: Double
    /// The maximum number of seconds between two attempts.
    package var longest: Double
    /// The number of attempts before a message is given up.
    package var attempts: Int

    /// Fifteen attempts in four days.
    package static let standard = RetrySchedule(first: 10, longest: 43_200, attempts: 15)

    package init(first: Double, longest: Double, attempts: Int) {
        self.first = first
        self.longest = longest
        self.attempts = attempts
    }

    /// Seconds until the next attempt; nil if there is none.
    ///
    /// - Parameter made: the attempts so far, from 1.
    package func delay(afterAttempts made: Int) -> Double? {
        guard made < attempts else { return nil }
        var delay = first
        for _ in 1..<max(made, 1) where delay < longest { delay *= 3 }
        return min(delay, longest)
    }

    /// The same for one message: later by up to a tenth, so that what failed together is not tried again together, and
    /// not before the recipient asks for it.
    ///
    /// - Parameter asked: the seconds that the recipient asks to wait, if any; more than ``longest`` is not waited.
    package func delay(afterAttempts made: Int, of message: String, asked: Double? = nil) -> Double? {
        guard let delay = delay(afterAttempts: made) else { return nil }
        let hash = SecureHash.sha256("\(message) \(made)")
        let jitter = Double(hash[0]) / 2560
        return max(delay, min(asked ?? 0, longest)) * (1 + jitter)
    }

    /// Seconds between the last attempt and the end of what a message contains, so that its recipient can still use it.
    private static let margin = 60.0

    /// The time of the next attempt of a message that ends; nil if there is none before its end.
    ///
    /// - Parameter wanted: the time without the end; the last attempt comes earlier.
    package func last(before end: Date?, at now: Date, wanted: Date) -> Date? {
        guard let end else { return wanted }
        let latest = end.addingTimeInterval(-Self.margin)
        if wanted <= latest { return wanted }
        return latest > now ? latest : nil
    }
}
