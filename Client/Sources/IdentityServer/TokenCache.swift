import IdentityCore

/// Remembers verified tokens, so that the same one costs no second verification.
///
/// Bounded: two generations, of which the older one is dropped when the newer one is full.
final class TokenCache: Sendable {
    struct Entry: Sendable {
        var token: VerifiedToken
        var issuer: String
        var keyID: String
    }

    /// A token's text, hashed by its end only: the signature's last bytes differ in all verified tokens, and the whole
    /// text would take longer to hash than to look up.
    private struct Key: Hashable {
        let text: String

        func hash(into hasher: inout Hasher) {
            hasher.combine(text.utf8.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
    }

    private struct Generations {
        var new: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
    }

    private let generations = Protected(Generations())
    private let capacity: Int

    /// - Parameter capacity: in tokens; each takes about 3 KB. 0 for no cache.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    func entry(for text: String) -> Entry? {
        generations.withLock { generations in
            let key = Key(text: text)
            if let entry = generations.new[key] { return entry }
            guard let entry = generations.old[key] else { return nil }
            insert(entry, for: key, into: &generations)
            return entry
        }
    }

    func insert(_ entry: Entry, for text: String) {
        generations.withLock { insert(entry, for: Key(text: text), into: &$0) }
    }

    private func insert(_ entry: Entry, for key: Key, into generations: inout Generations) {
        guard capacity > 0 else { return }
        if generations.new.count >= (capacity + 1) / 2 {
            generations.old = generations.new
            generations.new = [:]
        }
        generations.new[key] = entry
    }
}
