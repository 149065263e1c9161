import Projects

extension SettingsMember {
    /// The available second factors: Firebase's `mfa`.
    static let secondFactors: [SettingsMember] = [
        SettingsMember(path: "mfa.state") { object, name, settings in
            settings.secondFactors.isEnabled = try state(object, name, "mfa.state")
        },
        SettingsMember(path: "mfa.enabledProviders") { object, name, settings in
            let providers = try object.choices(name, of: ["PROVIDER_UNSPECIFIED", "PHONE_SMS"])
            settings.secondFactors.offersSMS = try !object.has(name) || providers.contains("PHONE_SMS")
        },
        SettingsMember(path: "mfa.providerConfigs") { object, name, settings in
            let defaults = SecondFactorSettings()
            settings.secondFactors.offersTOTP = defaults.offersTOTP
            settings.secondFactors.adjacentIntervals = defaults.adjacentIntervals
            for config in try object.objects(name) {
                guard let app = try config.object("totpProviderConfig") else { continue }
                settings.secondFactors.offersTOTP = try state(config, "state", "mfa.providerConfigs.state")
                let intervals = try app.int64("adjacentIntervals") ?? Int64(defaults.adjacentIntervals)
                let range = SecondFactorSettings.adjacentIntervalsRange
                guard let adjacent = Int(exactly: intervals), range.contains(adjacent) else {
                    throw WireError(
                        "INVALID_CONFIG",
                        "adjacentIntervals must be between \(range.lowerBound) and \(range.upperBound)."
                    )
                }
                settings.secondFactors.adjacentIntervals = adjacent
            }
        },
    ]

    /// Whether a state is ENABLED; enrollment before the first sign-in cannot be required.
    private static func state(_ object: WireObject, _ name: String, _ path: String) throws -> Bool {
        let state = try object.choice(name, of: ["STATE_UNSPECIFIED", "DISABLED", "ENABLED", "MANDATORY"])
        guard state != "MANDATORY" else {
            throw WireError("INVALID_CONFIG", "\(path) must be DISABLED or ENABLED: MANDATORY is not supported.")
        }
        return state == "ENABLED"
    }
}
