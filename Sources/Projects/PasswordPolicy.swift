import Secrets

/// A project's requirements for new passwords, within 6 to 4096 UTF-16 code units (Firebase, "Password policies").
package struct PasswordPolicy: Sendable, Hashable, Codable {
    /// Whether the other members apply.
    package var isEnforced = false
    /// Whether a sign-in with a password that no longer meets the policy is refused until the password is reset.
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

    /// The limits for any password, and the range of a policy's limits.
    package static let lengths = 6...4096
    /// The highest minimum length that a policy may set.
    package static let longestMinimum = 30
    /// `allowedNonAlphanumericCharacters`: the characters that count as symbols.
    package static let symbols = Array(##"^$*.[]{}()?"!@#%&/\,><':;|_~"##)

    /// One requirement for a password.
    package enum Requirement: Sendable, Hashable {
        /// UTF-16 units.
        case atLeast(Int)
        /// UTF-16 units.
        case atMost(Int)
        case lowercase, uppercase, digit, symbol
    }

    /// All requirements for a new password, of the project's policy or of every password.
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
        let password = password.composedPassword
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

    /// The requirements that a password does not meet, in Firebase's words; empty if it meets the policy, or none is
    /// enforced.
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
