package import Domain
package import Projects
import Storage

extension AccountsService { package var countSignIns: CountSignIns { CountSignIns(service: self) } }

/// Daily counts of sign-ins by method and outcome, and of conflicts.
package struct CountSignIns: Sendable {
    let service: AccountsService

    /// The number of days, including today.
    package static let days = 14

    /// One count for each day.
    package typealias Counts = [Int64]

    package struct Result: Sendable {
        /// Since 1970, in UTC; the last one is today.
        package var days: [Int64] = []
        /// Most frequent method first.
        package var methods: [(method: ProviderID, outcomes: [AccountEvents.Outcome: Counts])] = []
        /// Conflicts that were resolved: the pending credential was linked or signed in.
        package var resolved: Counts = []
    }

    package func callAsFunction(_ project: Project) async throws -> Result {
        let today = service.seconds / 86_400
        let days = Array((today - Int64(Self.days) + 1)...today)
        let zeros = Counts(repeating: 0, count: days.count)
        let found = try await service.stores.signInCounts.counts(
            in: project.scope,
            since: days[0]
        )
        var methods: [ProviderID: [AccountEvents.Outcome: Counts]] = [:]
        var resolved = zeros
        // Another node's clock may be ahead.
        for (count, number) in found where days.contains(count.day) {
            let index = Int(count.day - days[0])
            if let outcome = AccountEvents.Outcome(rawValue: count.outcome) {
                methods[count.provider, default: [:]][outcome, default: zeros][index] += number
            } else {
                resolved[index] += number
            }
        }
        let sorted = methods.map { (method: $0.key, outcomes: $0.value, sum: $0.value.values.joined().reduce(0, +)) }
            .sorted { ($1.sum, $0.method.rawValue) < ($0.sum, $1.method.rawValue) }
        return Result(days: days, methods: sorted.map { ($0.method, $0.outcomes) }, resolved: resolved)
    }
}
