import Projects

extension SettingsMember {
    /// `identity.rateLimits`: whether they are enabled, and `count` and `seconds` of each.
    static let rateLimits: [SettingsMember] =
        [
            SettingsMember(path: "identity.rateLimits.enabled") { object, name, settings in
                settings.rateLimits.isEnabled = try object.bool(name) ?? true
            }
        ]
        + RateLimitKind.ofProjects.flatMap { kind in
            [
                number(of: kind, "count", \.count, in: RateLimitBudget.counts),
                number(of: kind, "seconds", \.seconds, in: RateLimitBudget.durations),
            ]
        }

    private static func number(
        of kind: RateLimitKind,
        _ name: String,
        _ value: any WritableKeyPath<RateLimitBudget, Int> & Sendable,
        in range: ClosedRange<Int>
    ) -> SettingsMember {
        let path = "identity.rateLimits.\(kind.rawValue).\(name)"
        return SettingsMember(path: path) { object, name, settings in
            let number = try object.int64(name).map { Int($0) } ?? kind.standard[keyPath: value]
            guard range.contains(number) else {
                throw WireError(
                    "INVALID_CONFIG",
                    "\(path) must be between \(range.lowerBound) and \(range.upperBound)."
                )
            }
            settings.rateLimits[kind][keyPath: value] = number
        }
    }
}

extension JSONWriter {
    mutating func rateLimits(_ settings: RateLimitSettings) {
        member("enabled", settings.isEnabled)
        for kind in RateLimitKind.ofProjects {
            object(kind.rawValue) { json in
                json.member("count", number: Int64(settings[kind].count))
                json.member("seconds", number: Int64(settings[kind].seconds))
            }
        }
    }
}
