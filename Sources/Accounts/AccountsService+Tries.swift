import Secrets

extension AccountsService {
    /// The attempts to decide again after the account changed in between.
    static let tries = 0..<5

    /// Waits briefly before the third and later attempts, so that competing changes to the account can finish.
    func pause(beforeTry number: Int) async throws {
        guard number > 1 else { return }
        // Competing requests wait for different times.
        let share = Int(random.bytes(1).first ?? 0)
        try await options.pause(.milliseconds((5 << number) * (256 + share) / 256))
    }
}
