import Synchronization
import Text

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
        UTCTime(seconds: second).dated + " GMT"
    }
}
