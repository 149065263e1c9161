import Projects

/// `customStrengthOptions`, which clients read in `passwordPolicy` and admins set in `passwordPolicyConfig`.
extension PasswordPolicy {
    private typealias Flag = (name: String, path: WritableKeyPath<PasswordPolicy, Bool>)

    private static var flags: [Flag] {
        [
            ("containsLowercaseCharacter", \.needsLowercase), ("containsUppercaseCharacter", \.needsUppercase),
            ("containsNumericCharacter", \.needsDigit), ("containsNonAlphanumericCharacter", \.needsSymbol),
        ]
    }

    /// Reads lengths and character classes from one version of a policy; absent values become the default.
    init(version: WireObject) throws {
        self.init()
        let options = try version.object("customStrengthOptions") ?? WireObject()
        minimumLength = try options.int64("minPasswordLength").map { Int($0) } ?? minimumLength
        maximumLength = try options.int64("maxPasswordLength").map { Int($0) } ?? maximumLength
        for (name, path) in Self.flags { self[keyPath: path] = try options.bool(name) ?? false }
    }

    func writeStrength(_ json: inout JSONWriter) {
        json.object("customStrengthOptions") { json in
            json.member("minPasswordLength", number: Int64(minimumLength))
            json.member("maxPasswordLength", number: Int64(maximumLength))
            for (name, path) in Self.flags { json.member(name, ifTrue: self[keyPath: path]) }
        }
    }

    var enforcementState: String { isEnforced ? "ENFORCE" : "OFF" }
}
