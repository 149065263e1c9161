import Foundation
import Synchronization

/// The `Date` of answers (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`, made once a second.
final class HTTPDate: Sendable {
    private let last = Mutex((second: Int64.min, text: ""))

    func text(at time: Date = .now) -> String {
        let second = Int64(time.timeIntervalSince1970)
        return last.withLock { last in
            if second != last.second { last = (second, Self.text(of: time)) }
            return last.text
        }
    }

    static func text(of time: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: time)
        let clock = [parts.hour, parts.minute, parts.second].map { digits($0) }.joined(separator: ":")
        let weekday = weekdays[(parts.weekday ?? 1) - 1]
        let month = months[(parts.month ?? 1) - 1]
        return "\(weekday), \(digits(parts.day)) \(month) \(parts.year ?? 0) \(clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func digits(_ number: Int?) -> String {
        let text = String(number ?? 0)
        return text.utf8.count < 2 ? "0" + text : text
    }
}
