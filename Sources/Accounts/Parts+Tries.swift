import Secrets

extension Parts {
    /// How often something is decided anew because the account that it is about changed in between.
    static let tries = 0..<5

    /// Waits a little before the third try and those after it: whoever loses twice has met somebody who goes on changing
    /// the account, and gives way.
    func pause(beforeTry number: Int) async throws {
        guard number > 1 else { return }
        // Not all of those who met wait equally long.
        let share = Int(random.bytes(1).first ?? 0)
        try await pause(.milliseconds((5 << number) * (256 + share) / 256))
    }
}
