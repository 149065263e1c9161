import Foundation

extension Date {
    /// A day, which starts at midnight UTC, or a time.
    ///
    /// - Throws: ``CommandFailure``.
    init(argument text: String) throws {
        do {
            try self.init(text.count == 10 ? text + "T00:00:00Z" : text, strategy: .iso8601)
        } catch {
            throw CommandFailure.usage("'\(text)' is not a date such as 2026-01-31 or 2026-01-31T12:00:00Z")
        }
    }
}
