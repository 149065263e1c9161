import IdentityCore

/// Remembers verified tokens, so that the same one costs no second verification.
///
/// Bounded: two generations, of which the older one is dropped when the newer one is full.
final class TokenCache: Sendable {
    struct Entry: Sendable {
        var token: VerifiedToken
        var keyID: String
    }

    private struct Generations {
        var new: [String: Entry] = [:]
        var old: [String: Entry] = [:]
    }

    private let generations = Protected(Generations())
    private let capacity: Int

    /// - Parameter capacity: in tokens; each takes about 3 KB. 0 for no cache.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    func entry(for text: String) -> Entry? {
        generations.withLock { generations in
            if let entry = generations.new[text] { return entry }
            guard let entry = generations.old[text] else { return nil }
            insert(entry, for: text, into: &generations)
            return entry
        }
    }

    func insert(_ entry: Entry, for text: String) {
        generations.withLock { insert(entry, for: text, into: &$0) }
    }

    private func insert(_ entry: Entry, for text: String, into generations: inout Generations) {
        guard capacity > 0 else { return }
        if generations.new.count >= (capacity + 1) / 2 {
            generations.old = generations.new
            generations.new = [:]
        }
        generations.new[text] = entry
    }
}
