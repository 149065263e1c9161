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

    /// Reads lengths and character classes from a policy's one version; absent values become the default.
    mutating func setStrength(_ versions: [WireObject], path: String) throws {
        let options = try versions.first?.object("customStrengthOptions") ?? WireObject()
        let minimum = try options.int64("minPasswordLength") ?? Int64(Self.lengths.lowerBound)
        let maximum = try options.int64("maxPasswordLength") ?? Int64(Self.lengths.upperBound)
        let shortest = Int64(Self.lengths.lowerBound)
        guard versions.count <= 1, (shortest...Int64(Self.longestMinimum)).contains(minimum),
            (minimum...Int64(Self.lengths.upperBound)).contains(maximum)
        else {
            throw WireError(
                "INVALID_CONFIG",
                "\(path) must be one version, of a minPasswordLength from \(shortest) to \(Self.longestMinimum) and a "
                    + "maxPasswordLength from there to \(Self.lengths.upperBound)."
            )
        }
        minimumLength = Int(minimum)
        maximumLength = Int(maximum)
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
