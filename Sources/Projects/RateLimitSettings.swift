/// A project's rate limits.
package struct RateLimitSettings: Sendable, Hashable, Codable {
    package var isEnabled = true
    private var overrides: [String: RateLimitBudget] = [:]

    package init() {}

    package subscript(kind: RateLimitKind) -> RateLimitBudget {
        get { overrides[kind.rawValue] ?? kind.standard }
        set { overrides[kind.rawValue] = newValue == kind.standard ? nil : newValue }
    }

    /// The number that was set; nil for the default, which narrows no limit of the deployment.
    package func own(_ kind: RateLimitKind) -> RateLimitBudget? { overrides[kind.rawValue] }

    /// A thousand times the defaults, for `identity dev`.
    package static let generous: RateLimitSettings = {
        var settings = RateLimitSettings()
        for kind in RateLimitKind.ofProjects {
            settings[kind].count = min(kind.standard.count * 1_000, RateLimitBudget.counts.upperBound)
        }
        return settings
    }()
}
