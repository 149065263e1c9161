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

    /// What a password lacks, in the words of production; empty when it meets the policy, or nothing is enforced.
    package func problems(of password: String) -> [String] {
        guard isEnforced else { return [] }
        let length = password.utf16.count
        let letters = password.unicodeScalars
        var problems: [String] = []
        func require(_ isMet: Bool, _ problem: String) {
            if !isMet { problems.append("Password must contain \(problem)") }
        }
        require(length >= minimumLength, "at least \(minimumLength) characters")
        require(length <= maximumLength, "at most \(maximumLength) characters")
        require(!needsLowercase || letters.contains { ("a"..."z").contains($0) }, "a lower case character")
        require(!needsUppercase || letters.contains { ("A"..."Z").contains($0) }, "an upper case character")
        require(!needsDigit || letters.contains { ("0"..."9").contains($0) }, "a numeric character")
        require(!needsSymbol || password.contains(where: Self.symbols.contains), "a non-alphanumeric character")
        return problems
    }
}
