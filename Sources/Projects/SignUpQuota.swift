package import Foundation

/// Firebase's quota of sign-ups: so many of a project by one network address in an hour, for a time.
package struct SignUpQuota: Sendable, Hashable, Codable {
    /// Nil for the usual limit.
    package var count: Int64?
    /// As it was written (RFC 3339); nil for the time at which the quota was set.
    package var startTime: String?
    /// As it was written (`3600s`).
    package var duration: String?
    /// When it was set.
    package var setAt: Date?

    package init() {}

    /// The limit while the quota lasts; nil before and after.
    package func budget(at now: Date) -> RateLimitBudget? {
        guard let count, let duration = duration.flatMap(Self.seconds), let start = startTime.map(Self.time) ?? setAt,
            start <= now, now < start.addingTimeInterval(duration)
        else { return nil }
        return RateLimitBudget(count: Int(min(count, Int64(RateLimitBudget.counts.upperBound))), seconds: 3_600)
    }

    /// A point in time (RFC 3339), of whose seconds the fraction does not count; nil for anything else.
    package static func time(_ text: String) -> Date? {
        guard let match = text.wholeMatch(of: #/([0-9TZ:-]+?)(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})/#) else { return nil }
        return try? Date("\(match.1)\(match.3)", strategy: .iso8601)
    }

    /// Seconds, as Protocol Buffers write a duration: `9.615s`; nil for anything else.
    package static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), (0...315_576_000_000).contains(seconds),
            text.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return seconds
    }
}
