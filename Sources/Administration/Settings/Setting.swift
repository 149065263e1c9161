package import Projects

/// A setting of a project: its name in the API, its type, and the rule for its values.
///
/// REST reads it from JSON and the console from a form; it is checked and stored only here.
package struct Setting: Sendable {
    /// `identity.sessionIdleDays`: the members that lead to it in `projects/{p}/config`, or in a tenant.
    package let path: String
    package let value: Value

    /// A setting's value, by its type.
    package enum Value: Sendable {
        case flag(Field<Bool>)
        case number(Field<Int64>, in: ClosedRange<Int64>)
        case seconds(Field<Int64>, in: ClosedRange<Int64>)
        /// Empty for none.
        case text(Field<String>)
        /// A whole number as text, sent as either; empty for none.
        case digits(Field<String>)
        case choice(Field<String>, of: [String])
        case choices(Field<[String]>, of: [String])
        case texts(Field<[String]>)
        case map(Field<[String: String]>)
        case mailTexts(Field<[String: MailSettings.Text]>)
        case passwordPolicies(Field<[PasswordPolicy]>)
        case authenticatorApps(Field<[AuthenticatorApp]>)
        case regions(Field<SMSRegions>)
        case sms(Field<SMSProvider?>)
        case webhook(Field<WebhookEndpoint?>)
        case captcha(Field<CaptchaVerifier?>)
        /// Firebase's, and not here: only a value that asks for nothing is accepted.
        case unsupported(nothing: [String])
    }

    /// Reads and changes a value of one type.
    package struct Field<Value: Sendable>: Sendable {
        /// The setting's path in the project.
        let path: String
        package let get: @Sendable (ProjectSettings) -> Value
        /// Checks the value and stores it.
        let set: @Sendable (inout ProjectSettings, Value) throws -> Void

        init(
            _ path: String,
            get: @escaping @Sendable (ProjectSettings) -> Value,
            set: @escaping @Sendable (inout ProjectSettings, Value) throws -> Void
        ) {
            self.path = path
            self.get = get
            self.set = set
        }

        /// That of a new project.
        package var standard: Value { self.get(ProjectSettings()) }

        package func change(to value: Value) -> SettingChange {
            SettingChange(path: path) { try set(&$0, value) }
        }
    }

    typealias Path<Value> = any WritableKeyPath<ProjectSettings, Value> & Sendable

    /// The whole config of a project: its settings, and what Firebase's has besides.
    package static let ofProject = all + described + unsupported

    /// All settings of a project: Firebase's where it has them, others under `identity`.
    package static let all =
        general + secondFactors + passkeys + mail + pages + phone + delivery + rateLimits + blockingFunctions + tenants
        + oauth
}

/// A change of one setting, checked when it is applied.
package struct SettingChange: Sendable {
    package let path: String
    let apply: @Sendable (inout ProjectSettings) throws -> Void

    /// Changes nothing.
    package static func none(_ path: String) -> SettingChange { SettingChange(path: path) { _ in } }

    /// The same change, which says whether an admin gave a value for a member: then it is shown even if it is the
    /// default.
    package func giving(_ member: String, _ isGiven: Bool) -> SettingChange {
        SettingChange(path: path) { settings in
            try apply(&settings)
            settings.given.removeAll { $0 == member }
            if isGiven { settings.given = (settings.given + [member]).sorted() }
        }
    }
}

// MARK: Types and their rules

extension Setting {
    static func flag(_ path: String, _ value: Path<Bool>) -> Setting {
        Setting(path: path, value: .flag(Field(path, get: { $0[keyPath: value] }) { $0[keyPath: value] = $1 }))
    }

    static func number<Number: FixedWidthInteger & Sendable>(
        _ path: String,
        _ value: Path<Number>,
        in range: ClosedRange<Number>
    ) -> Setting {
        Setting(
            path: path,
            value: .number(bounded(path, value, in: range), in: Int64(range.lowerBound)...Int64(range.upperBound))
        )
    }

    static func seconds(_ path: String, _ value: Path<Int64>, in range: ClosedRange<Int64>) -> Setting {
        Setting(path: path, value: .seconds(bounded(path, value, in: range, unit: " seconds"), in: range))
    }

    private static func bounded<Number: FixedWidthInteger & Sendable>(
        _ path: String,
        _ value: Path<Number>,
        in range: ClosedRange<Number>,
        unit: String = ""
    ) -> Field<Int64> {
        Field(path, get: { Int64($0[keyPath: value]) }) { settings, number in
            guard let number = Number(exactly: number), range.contains(number) else {
                throw AdministrationError.invalid(
                    "\(path) must be between \(range.lowerBound) and \(range.upperBound)\(unit)."
                )
            }
            settings[keyPath: value] = number
        }
    }

    /// A rule for texts, and its words after "must".
    struct TextRule: Sendable {
        let words: String
        let allows: @Sendable (String) -> Bool

        init(_ words: String, _ allows: @escaping @Sendable (String) -> Bool) {
            (self.words, self.allows) = (words, allows)
        }
    }

    /// An optional text.
    static func text(
        _ path: String,
        _ value: Path<String?>,
        _ rule: TextRule,
        placeholders: [String]? = nil
    ) -> Setting {
        let field = Field(path, get: { $0[keyPath: value] ?? "" }) { settings, text in
            let text = text.isEmpty ? nil : text
            // What an earlier release accepted stays until it is changed.
            if text != settings[keyPath: value] { try check(text, path, rule, placeholders) }
            settings[keyPath: value] = text
        }
        return Setting(path: path, value: .text(field))
    }

    /// - Parameter placeholders: the only ones that the text may have; nil if `%X%` is none in it.
    static func check(_ text: String?, _ path: String, _ rule: TextRule, _ placeholders: [String]? = nil) throws {
        guard let text else { return }
        guard rule.allows(text) else { throw AdministrationError.invalid("\(path) must \(rule.words).") }
        // Three letters at least: two can be a percent-encoded byte.
        for match in text.matches(of: /%[A-Z_]{3,}%/) where placeholders?.contains(String(match.output)) == false {
            throw AdministrationError.invalid(
                "\(path) must not contain \(match.output): the placeholders are \(placeholders?.joined(separator: ", ") ?? "")."
            )
        }
    }

    static func texts(
        _ path: String,
        _ value: Path<[String]>,
        atMost limit: Int,
        _ rule: TextRule,
        areDistinct: @escaping @Sendable ([String]) -> Bool = { _ in true }
    ) -> Setting {
        let field = Field(path, get: { $0[keyPath: value] }) { settings, texts in
            guard texts.count <= limit, texts.allSatisfy(rule.allows), areDistinct(texts) else {
                throw AdministrationError.invalid("\(path) must \(rule.words).")
            }
            settings[keyPath: value] = texts
        }
        return Setting(path: path, value: .texts(field))
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ path: String,
        _ value: Path<Choice>
    ) -> Setting {
        let choices = Choice.allCases.map(\.rawValue)
        let field = Field(path, get: { $0[keyPath: value].rawValue }) { settings, name in
            settings[keyPath: value] = try Choice(rawValue: name) ?? { throw unknown(path, choices) }()
        }
        return Setting(path: path, value: .choice(field, of: choices))
    }

    static func choice(_ path: String, _ value: Path<Bool>, off: String, on: String) -> Setting {
        let field = Field(path, get: { $0[keyPath: value] ? on : off }) { settings, name in
            guard [off, on].contains(name) else { throw unknown(path, [off, on]) }
            settings[keyPath: value] = name == on
        }
        return Setting(path: path, value: .choice(field, of: [off, on]))
    }

    private static func unknown(_ path: String, _ choices: [String]) -> AdministrationError {
        .invalid("\(path) must be one of \(choices.joined(separator: ", ")).")
    }
}
