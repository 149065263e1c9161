/// What hashing a password costs a project: the parameters of Firebase's modified scrypt that it may choose.
package struct PasswordCost: Sendable, Hashable, Codable {
    /// scrypt's `r`.
    package var rounds = 8
    /// The binary logarithm of scrypt's `N`.
    package var memoryCost = 14

    package init() {}

    /// Firebase imports no more, and less would be no protection of a weak password.
    package static let allowedRounds: ClosedRange<Int64> = 4...8
    /// As for ``allowedRounds``; a hash takes 2 to 16 MiB.
    package static let allowedMemoryCosts: ClosedRange<Int64> = 12...14
}
