import Synchronization

import struct Foundation.Date

/// The `Date` header of responses (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`, formatted once a second.
final class HTTPDate: Sendable {
    private let last = Mutex((second: Int64.min, text: ""))

    func text() -> String {
        let second = Int64(Date.now.timeIntervalSince1970)
        return last.withLock { last in
            if second != last.second { last = (second, Self.text(of: second)) }
            return last.text
        }
    }

    /// - Parameter second: since 1970.
    static func text(of second: Int64) -> String {
        let time = UTCTime(seconds: second)
        let date = "\(UTCTime.digits(time.day)) \(months[time.month - 1]) \(UTCTime.digits(time.year, 4))"
        return "\(weekdays[time.weekday]), \(date) \(time.clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
