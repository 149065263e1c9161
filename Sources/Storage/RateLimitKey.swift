package import Projects

/// What a request is counted by, for one kind of limit.
package struct RateLimitKey: Sendable {
    package let kind: RateLimitKind
    /// Stored as a hash.
    let values: [String]
    let reach: Reach
    /// Whether a quarter of the budget is left to other requests.
    let leavesShare: Bool
    /// Whether pages of other sites ask, which have a quarter of the budget, apart from others.
    let isOfForeignPage: Bool

    /// Whose requests are counted together, and how many times the kind's number they have.
    package enum Reach: Sendable {
        /// The kind's own (``Projects/RateLimitKind/spansProjects``).
        case usual
        /// Those of the project, for a kind that spans projects.
        case project(times: Int)
        /// Those of all projects, for a kind that spans projects.
        case allProjects(times: Int)
    }

    package init(
        _ kind: RateLimitKind,
        _ values: [String],
        _ reach: Reach = .usual,
        leavesShare: Bool = false,
        isOfForeignPage: Bool = false
    ) {
        self.kind = kind
        self.values = values
        self.reach = reach
        self.leavesShare = leavesShare
        self.isOfForeignPage = isOfForeignPage
    }

    /// The same of a page of another site, for a kind that names addresses.
    package var ofForeignPage: RateLimitKey {
        guard kind.namesAddresses else { return self }
        return RateLimitKey(
            kind,
            values + ["another site's page"],
            reach,
            leavesShare: leavesShare,
            isOfForeignPage: true
        )
    }

    /// One user's tries are few enough as they are.
    func narrowed(_ budget: RateLimitBudget) -> RateLimitBudget {
        isOfForeignPage && kind.countsAddresses ? budget.quarter : budget
    }
}
