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

    /// The names in `customStrengthOptions`.
    static let members = ["minPasswordLength", "maxPasswordLength"] + flags.map(\.name)

    /// - Parameter isWhole: whether classes that are not needed are written too.
    func writeStrength(_ json: inout JSONWriter, isWhole: Bool = false) {
        json.object("customStrengthOptions") { json in
            json.member("minPasswordLength", number: Int64(minimumLength))
            json.member("maxPasswordLength", number: Int64(maximumLength))
            for (name, path) in Self.flags {
                json.member(name, isWhole || self[keyPath: path] ? self[keyPath: path] : nil)
            }
        }
    }

    var enforcementState: String { isEnforced ? "ENFORCE" : "OFF" }
}
