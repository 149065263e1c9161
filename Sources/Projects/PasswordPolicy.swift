/// What new passwords of a project must be beyond 6 to 4096 UTF-16 units (Firebase, "Password policies").
package struct PasswordPolicy: Sendable, Hashable, Codable {
    /// Whether the rest counts.
    package var isEnforced = false
    /// Whether a sign-in with a password that meets it no more is refused, until the password is reset.
    package var forcesUpgradeAtSignIn = false
    /// UTF-16 units.
    package var minimumLength = lengths.lowerBound
    /// UTF-16 units.
    package var maximumLength = lengths.upperBound
    package var needsLowercase = false
    package var needsUppercase = false
    package var needsDigit = false
    package var needsSymbol = false

    package init() {}

    /// What any password must have, and what a policy may ask for at least and at most.
    package static let lengths = 6...4096
    /// A policy asks for no more than this at least.
    package static let longestMinimum = 30
    /// `allowedNonAlphanumericCharacters`: what counts as a symbol.
    package static let symbols = Array(##"^$*.[]{}()?"!@#%&/\,><':;|_~"##)

    /// One thing that a password must have.
    package enum Requirement: Sendable, Hashable {
        /// UTF-16 units.
        case atLeast(Int)
        /// UTF-16 units.
        case atMost(Int)
        case lowercase, uppercase, digit, symbol
    }

    /// All that a new password must have, of the project's policy or of every one.
    package var requirements: [Requirement] {
        guard isEnforced else { return [.atLeast(Self.lengths.lowerBound), .atMost(Self.lengths.upperBound)] }
        var requirements = [Requirement.atLeast(minimumLength), .atMost(maximumLength)]
        if needsLowercase { requirements.append(.lowercase) }
        if needsUppercase { requirements.append(.uppercase) }
        if needsDigit { requirements.append(.digit) }
        if needsSymbol { requirements.append(.symbol) }
        return requirements
    }

    /// The requirements that a password does not meet.
    package func unmet(by password: String) -> [Requirement] {
        let length = password.utf16.count
        let letters = password.unicodeScalars
        return requirements.filter { requirement in
            switch requirement {
            case .atLeast(let shortest): length < shortest
            case .atMost(let longest): length > longest
            case .lowercase: !letters.contains { ("a"..."z").contains($0) }
            case .uppercase: !letters.contains { ("A"..."Z").contains($0) }
            case .digit: !letters.contains { ("0"..."9").contains($0) }
            case .symbol: !password.contains(where: Self.symbols.contains)
            }
        }
    }

    /// What a password lacks, in the words of production; empty when it meets the policy, or nothing is enforced.
    package func problems(of password: String) -> [String] {
        guard isEnforced else { return [] }
        return unmet(by: password).map { requirement in
            let wanted =
                switch requirement {
                case .atLeast(let shortest): "at least \(shortest) characters"
                case .atMost(let longest): "at most \(longest) characters"
                case .lowercase: "a lower case character"
                case .uppercase: "an upper case character"
                case .digit: "a numeric character"
                case .symbol: "a non-alphanumeric character"
                }
            return "Password must contain \(wanted)"
        }
    }
}
