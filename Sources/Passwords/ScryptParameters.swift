/// The parameters of Firebase's modified scrypt, with the names in its exports.
package struct ScryptParameters: Sendable, Hashable, Codable {
    /// scrypt's `r`, 1 to 8.
    package let rounds: Int
    /// The binary logarithm of scrypt's `N`, 1 to 14; a hash takes 128 · rounds · 2^memoryCost bytes, at most 16 MiB.
    package let memoryCost: Int
    /// Appended to each salt, 0 to 64 bytes.
    package let saltSeparator: [UInt8]

    /// Nil outside of these ranges, which Firebase's import also has: a stored hash must not require gigabytes.
    package init?(rounds: Int, memoryCost: Int, saltSeparator: [UInt8]) {
        guard (1...8).contains(rounds), (1...14).contains(memoryCost), saltSeparator.count <= 64 else { return nil }
        self.init(checkedRounds: rounds, memoryCost: memoryCost, saltSeparator: saltSeparator)
    }

    private init(checkedRounds: Int, memoryCost: Int, saltSeparator: [UInt8]) {
        self.rounds = checkedRounds
        self.memoryCost = memoryCost
        self.saltSeparator = saltSeparator
    }

    /// The hashes that cost together what a hash with these parameters costs more than one with others; scrypt's work is
    /// the product of `N` and `r`.
    func more(than other: ScryptParameters) -> [ScryptParameters] {
        var work = rounds << memoryCost - other.rounds << other.memoryCost
        var hashes: [ScryptParameters] = []
        while work > 0 {
            // The largest ones first, so that few are enough.
            let cost = min(memoryCost, work.bitWidth - work.leadingZeroBitCount - 1)
            guard
                let next = ScryptParameters(
                    rounds: min(8, work >> cost),
                    memoryCost: cost,
                    saltSeparator: saltSeparator
                )
            else { break }
            hashes.append(next)
            work -= next.rounds << cost
        }
        return hashes
    }

    /// Firebase's own parameters, for new passwords.
    package static let standard = ScryptParameters(checkedRounds: 8, memoryCost: 14, saltSeparator: [7])
}
