/// The cost of a project's password hashes: the parameters of Firebase's modified scrypt.
package struct PasswordCost: Sendable, Hashable, Codable {
    /// scrypt's `r`.
    package var rounds = 8
    /// The binary logarithm of scrypt's `N`.
    package var memoryCost = 14

    package init() {}

    /// Firebase imports no more, and less would not protect weak passwords.
    package static let allowedRounds = 4...8
    /// As for ``allowedRounds``; a hash takes 2 to 16 MiB.
    package static let allowedMemoryCosts = 12...14
}
