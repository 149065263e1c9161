import Domain
import Federation
import Storage
import Text

import struct Foundation.Date

/// The filters and the order of the list of accounts, as they stand in its URL.
struct ConsoleAccountFilter: Sendable {
    /// A state of accounts; an account may be in several.
    enum State: String, CaseIterable {
        case disabled, unverified, secondFactor, anonymous

        var title: String {
            switch self {
            case .disabled: "Disabled"
            case .unverified: "Unverified"
            case .secondFactor: "Second factor"
            case .anonymous: "Anonymous"
            }
        }
    }

    /// The time that ``from`` and ``to`` refer to.
    enum Time: String, CaseIterable {
        case created, used

        var title: String {
            switch self {
            case .created: "Created"
            case .used: "Last used"
            }
        }
    }

    enum Sort: String, CaseIterable {
        case newest = "-created"
        case oldest = "created"
        case email
        case emailDescending = "-email"

        var title: String {
            switch self {
            case .newest: "Newest first"
            case .oldest: "Oldest first"
            case .email: "Email, A to Z"
            case .emailDescending: "Email, Z to A"
            }
        }
    }

    var provider: ProviderID?
    var state: State?
    var time = Time.created
    /// UTC days, both included.
    var from: Day?
    var to: Day?
    var sort = Sort.newest

    init() {}

    /// - Throws: 400 for a value that no form of ours sends.
    init(_ items: FormFields) throws(WireError) {
        func value(_ name: String) throws(WireError) -> String? {
            try items.value(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        func choice<Choice: RawRepresentable<String>>(_ name: String) throws(WireError) -> Choice? {
            guard let text = try value(name) else { return nil }
            guard let choice = Choice(rawValue: text) else { throw .invalidRequest("Unknown \(name).", field: name) }
            return choice
        }
        func day(_ name: String) throws(WireError) -> Day? {
            guard let text = try value(name) else { return nil }
            guard let day = Day(text) else {
                throw .invalidRequest("\(name) must be a date such as 2026-01-31.", field: name)
            }
            return day
        }
        provider = try value("provider").map { ProviderID($0) }
        state = try choice("state")
        time = try choice("time") ?? .created
        from = try day("from")
        to = try day("to")
        sort = try choice("sort") ?? .newest
    }

    /// Whether it leaves out accounts.
    var isActive: Bool { provider != nil || state != nil || from != nil || to != nil }

    var query: AccountQuery {
        var query = AccountQuery()
        query.method = provider
        switch state {
        case .disabled: query.isDisabled = true
        case .unverified: query.isUnverified = true
        case .secondFactor: query.hasSecondFactor = true
        case .anonymous: query.isAnonymous = true
        case nil: break
        }
        let (start, end) = (from?.start, to?.end)
        switch time {
        case .created: (query.createdAfter, query.createdBefore) = (start, end)
        // `lastUsedAfter` excludes its own time; the database's times have microseconds.
        case .used: (query.lastUsedAfter, query.lastUsedBefore) = (start?.addingTimeInterval(-0.000_001), end)
        }
        switch sort {
        case .newest: (query.sort, query.descends) = (.createdAt, true)
        case .oldest: query.sort = .createdAt
        case .email: query.sort = .email
        case .emailDescending: (query.sort, query.descends) = (.email, true)
        }
        return query
    }

    /// The parameters of the URL, without those that say nothing.
    var parameters: [(name: String, value: String)] {
        let isTimed = from != nil || to != nil
        let all: [(String, String?)] = [
            ("provider", provider?.rawValue), ("state", state?.rawValue),
            ("time", isTimed && time != .created ? time.rawValue : nil), ("from", from?.text), ("to", to?.text),
            ("sort", sort == .newest ? nil : sort.rawValue),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The URL of the list with this filter.
    ///
    /// - Parameter first: further parameters, which come first.
    func path(_ place: ConsolePlace, _ first: [(name: String, value: String)] = []) -> String {
        let pairs = first + parameters
        guard !pairs.isEmpty else { return "\(place.path)/accounts" }
        return "\(place.path)/accounts?" + FormFields(pairs).text
    }

    func with(_ change: (inout ConsoleAccountFilter) -> Void) -> ConsoleAccountFilter {
        var filter = self
        change(&filter)
        return filter
    }

    /// A day in UTC.
    struct Day: Sendable, Equatable {
        /// `2026-01-31`.
        let text: String
        /// Since 1970.
        private let number: Int64

        init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard text.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2],
                parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
                let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]), year >= 1970
            else { return nil }
            number = UTCTime.days(year: year, month: month, day: day)
            guard UTCTime(seconds: number * 86_400).text.hasPrefix(text) else { return nil }
            self.text = text
        }

        var start: Date { Date(timeIntervalSince1970: Double(number * 86_400)) }
        /// The start of the next day.
        var end: Date { Date(timeIntervalSince1970: Double((number + 1) * 86_400)) }
    }
}
