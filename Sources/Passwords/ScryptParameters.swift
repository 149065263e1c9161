/// The parameters of Firebase's modified scrypt, as its exports name them.
package struct ScryptParameters: Sendable, Hashable, Codable {
    /// scrypt's `r`, 1 to 8.
    package let rounds: Int
    /// The binary logarithm of scrypt's `N`, 1 to 14; a hash takes 128 · rounds · 2^memoryCost bytes, 16 MiB at most.
    package let memoryCost: Int
    /// Appended to each salt, 0 to 64 bytes.
    package let saltSeparator: [UInt8]

    /// Nil out of these ranges, which are those that Firebase imports: a stored hash must not ask for gigabytes.
    package init?(rounds: Int, memoryCost: Int, saltSeparator: [UInt8]) {
        guard (1...8).contains(rounds), (1...14).contains(memoryCost), saltSeparator.count <= 64 else { return nil }
        self.init(checkedRounds: rounds, memoryCost: memoryCost, saltSeparator: saltSeparator)
    }

    private init(checkedRounds: Int, memoryCost: Int, saltSeparator: [UInt8]) {
        self.rounds = checkedRounds
        self.memoryCost = memoryCost
        self.saltSeparator = saltSeparator
    }

    /// Firebase's own, with which new passwords are hashed.
    package static let standard = ScryptParameters(checkedRounds: 8, memoryCost: 14, saltSeparator: [7])
}
