import Domain
import Projects

extension Setting {
    /// Phone sign-in, and the regions for SMS.
    static let phone: [Setting] = [
        flag("signIn.phoneNumber.enabled", \.phone.isEnabled),
        testNumbers("signIn.phoneNumber.testPhoneNumbers"),
        regions("smsRegionConfig"),
        texts("notification.sendSms.localized"),
        flag("notification.sendSms.originBoundCodes", \.phone.bindsCodesToPages),
    ]

    private static func texts(_ path: String) -> Setting {
        // What a browser or an app reads stands on a line of its own below it.
        let rule = TextRule("contain %CODE% and be one line of at most 320 characters") { text in
            text.contains("%CODE%") && text.count <= 320
                && text.unicodeScalars.allSatisfy {
                    ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                }
        }
        let field = Field(path, get: \.phone.texts) { settings, texts in
            try check(languages: texts.keys, path)
            for (tag, text) in texts { try check(text, "\(path).\(tag)", rule, PhoneSettings.placeholders) }
            settings.phone.texts = texts
        }
        return Setting(path: path, value: .map(field))
    }

    private static func testNumbers(_ path: String) -> Setting {
        let field = Field(path, get: \.phone.testNumbers) { settings, codes in
            var numbers: [String: String] = [:]
            for (text, code) in codes {
                guard let number = PhoneNumber(text), code.wholeMatch(of: /[0-9]{6}/) != nil,
                    numbers.updateValue(code, forKey: number.text) == nil
                else {
                    throw AdministrationError.invalid("testPhoneNumbers must have a six-digit code for each number.")
                }
            }
            guard numbers.count <= 10 else {
                throw AdministrationError.invalid("testPhoneNumbers must be at most ten.")
            }
            settings.phone.testNumbers = numbers
        }
        return Setting(path: path, value: .map(field))
    }

    private static func regions(_ path: String) -> Setting {
        let field = Field(path, get: \.phone.regions) { settings, regions in
            let listed = regions.listed
            guard listed.allSatisfy(DiallingCodes.isRegion), Set(listed).count == listed.count else {
                throw AdministrationError.invalid("\(path) must list ISO 3166-1 regions such as DE, each once.")
            }
            settings.phone.regions = SMSRegions(isAllowlist: regions.isAllowlist, listed: listed)
        }
        return Setting(path: path, value: .regions(field))
    }

    // MARK: Second factors

    /// The available second factors: Firebase's `mfa`.
    static let secondFactors: [Setting] = [
        secondFactorState("mfa.state"),
        smsSecondFactor("mfa.enabledProviders"),
        authenticatorApps("mfa.providerConfigs"),
    ]

    /// The second factor of authenticator apps: `totpProviderConfig`.
    package struct AuthenticatorApp: Sendable, Hashable {
        /// One of ``states``.
        package var state: String
        /// Nil for the default.
        package var adjacentIntervals: Int64?

        package init(state: String?, adjacentIntervals: Int64?) {
            self.state = state ?? Setting.states[0]
            self.adjacentIntervals = adjacentIntervals
        }

        fileprivate init(_ settings: SecondFactorSettings) {
            state = Setting.name(ofState: settings.offersTOTP)
            adjacentIntervals = settings.adjacentIntervals.map { Int64($0) }
        }
    }

    /// Enrollment before the first sign-in cannot be required: `MANDATORY` is refused.
    package static let states = ["STATE_UNSPECIFIED", "DISABLED", "ENABLED", "MANDATORY"]

    private static func name(ofState isEnabled: Bool) -> String { isEnabled ? "ENABLED" : "DISABLED" }

    private static func isEnabled(_ state: String, _ path: String) throws -> Bool {
        guard state != "MANDATORY" else {
            throw AdministrationError.invalid("\(path) must be DISABLED or ENABLED: MANDATORY is not supported.")
        }
        return state == "ENABLED"
    }

    private static func secondFactorState(_ path: String) -> Setting {
        let field = Field(path, get: { name(ofState: $0.secondFactors.isEnabled) }) { settings, state in
            settings.secondFactors.isEnabled = try isEnabled(state, path)
        }
        return Setting(path: path, value: .choice(field, of: states))
    }

    private static func smsSecondFactor(_ path: String) -> Setting {
        let sms = "PHONE_SMS"
        let field = Field<[String]>(path, get: { $0.secondFactors.offersSMS ? [sms] : [] }) { settings, providers in
            // None is no choice: there is no other.
            settings.secondFactors.offersSMS = providers.isEmpty || providers.contains(sms)
        }
        return Setting(path: path, value: .choices(field, of: ["PROVIDER_UNSPECIFIED", sms]))
    }

    private static func authenticatorApps(_ path: String) -> Setting {
        let field = Field(path, get: { [AuthenticatorApp($0.secondFactors)] }) { settings, apps in
            let (standard, range) = (SecondFactorSettings(), SecondFactorSettings.adjacentIntervalsRange)
            settings.secondFactors.offersTOTP = standard.offersTOTP
            settings.secondFactors.adjacentIntervals = standard.adjacentIntervals
            for app in apps {
                settings.secondFactors.offersTOTP = try isEnabled(app.state, "\(path).state")
                settings.secondFactors.adjacentIntervals = try app.adjacentIntervals.map { intervals in
                    guard let adjacent = Int(exactly: intervals), range.contains(adjacent) else {
                        throw AdministrationError.invalid(
                            "adjacentIntervals must be between \(range.lowerBound) and \(range.upperBound)."
                        )
                    }
                    return adjacent
                }
            }
        }
        return Setting(path: path, value: .authenticatorApps(field))
    }
}
