/// A time in the Gregorian calendar and UTC.
package struct UTCTime: Sendable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int
    /// 0 for Sunday.
    package let weekday: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// - Parameter seconds: since 1970; may be negative.
    package init(seconds: Int64) {
        let (days, time) = Self.divide(Int(seconds), by: 86_400)
        hour = time / 3_600
        minute = time / 60 % 60
        second = time % 60
        weekday = Self.divide(days + 4, by: 7).remainder  // 1970 began on a Thursday
        // Years start in March, in eras of 400, so that a leap day is the last day of its year.
        let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// Rounds down, also for negative numbers.
    private static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let remainder = (number % divisor + divisor) % divisor
        return ((number - remainder) / divisor, remainder)
    }

    /// `2026-11-21T17:40:32`.
    package var text: String { String(decoding: textBytes, as: UTF8.self) }

    /// `2026-11-21T17:40:32.017Z`, for a fraction of 17 in three digits.
    package func text(fraction: Int, _ count: Int) -> String {
        var bytes = textBytes
        Self.append(fraction, count, after: ".", to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
        return String(decoding: bytes, as: UTF8.self)
    }

    // Every account in an answer has one or two of them.
    private var textBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        Self.append(year, 4, to: &bytes)
        Self.append(month, 2, after: "-", to: &bytes)
        Self.append(day, 2, after: "-", to: &bytes)
        Self.append(hour, 2, after: "T", to: &bytes)
        Self.append(minute, 2, after: ":", to: &bytes)
        Self.append(second, 2, after: ":", to: &bytes)
        return bytes
    }

    /// With leading zeros.
    private static func append(_ number: Int, _ count: Int, after mark: Unicode.Scalar? = nil, to bytes: inout [UInt8])
    {
        if let mark { bytes.append(UInt8(ascii: mark)) }
        var power = 1
        for _ in 1..<count { power *= 10 }
        guard (0..<power * 10).contains(number) else { return bytes += String(number).utf8 }
        while power > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / power % 10))
            power /= 10
        }
    }

    /// `17:40:32`.
    package var clock: String { Self.digits(hour) + ":" + Self.digits(minute) + ":" + Self.digits(second) }

    // MARK: HTTP dates

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37`.
    ///
    /// With ` GMT` behind it, as in HTTP (RFC 9110 §5.6.7); with ` +0000`, as in emails (RFC 5322 §3.3).
    package var dated: String {
        let date = Self.digits(day) + " " + Self.months[month - 1] + " " + Self.digits(year, 4)
        return Self.weekdays[weekday] + ", " + date + " " + clock
    }

    /// The seconds since 1970 that `Sun, 06 Nov 1994 08:49:37 GMT` names; nil for any other form.
    package static func seconds(httpDate text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        let clock = parts.count == 6 ? parts[4].split(separator: ":").compactMap { Int64($0) } : []
        guard clock.count == 3, clock.allSatisfy({ (0..<60).contains($0) }), let day = Int64(parts[1]),
            let year = Int64(parts[3]), let month = months.firstIndex(of: String(parts[2])), (1...31).contains(day),
            (1...9999).contains(year)
        else { return nil }
        let days = days(year: year, month: Int64(month) + 1, day: day)
        let seconds = days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
        return UTCTime(seconds: seconds).dated + " GMT" == text ? seconds : nil
    }

    /// Since 1970; what is no date is that of another one.
    ///
    /// - Parameter year: 0 or later.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (shifted, fromMarch) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * fromMarch + 2) / 5 + day - 719_469
    }

    /// With leading zeros.
    package static func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
