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
    package var text: String {
        Self.digits(year, 4) + "-" + Self.digits(month) + "-" + Self.digits(day) + "T" + clock
    }

    /// `17:40:32`.
    package var clock: String { Self.digits(hour) + ":" + Self.digits(minute) + ":" + Self.digits(second) }

    /// With leading zeros.
    static func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
