import Crypto
import Synchronization

/// Remembers whose signatures are right, by the SHA-256 of the whole token: those that this process has verified, and
/// those that it has made.
///
/// It holds nothing of what a token says: that is read, and its key looked up, each time. Entries live in two generations;
/// when the younger is full it becomes the older and the older is forgotten.
package final class VerifiedTokenCache: Sendable {
    /// Half of a SHA-256: to find another token with that of one among 65,536 takes 2^112 tries.
    struct Digest: Hashable {
        private let first: UInt64
        private let second: UInt64

        init(of token: [UInt8]) {
            var words = SIMD2<UInt64>()
            for (index, byte) in SHA256.hash(data: token).prefix(16).enumerated() {
                words[index / 8] = words[index / 8] << 8 | UInt64(byte)
            }
            first = words[0]
            second = words[1]
        }
    }

    private struct Generations {
        var young: Set<Digest> = []
        var old: Set<Digest> = []
    }

    private let generations = Mutex(Generations())
    private let limit: Int

    /// - Parameter capacity: how many tokens to remember at most, at least 2; each takes 16 to 48 bytes.
    package init(capacity: Int) { self.limit = max(1, capacity / 2) }

    /// How many tokens are remembered.
    package var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    func contains(_ digest: Digest) -> Bool {
        generations.withLock { generations in
            if generations.young.contains(digest) { return true }
            guard generations.old.remove(digest) != nil else { return false }
            insert(digest, into: &generations)
            return true
        }
    }

    func insert(_ digest: Digest) {
        generations.withLock { insert(digest, into: &$0) }
    }

    private func insert(_ digest: Digest, into generations: inout Generations) {
        if generations.young.count >= limit {
            generations.old = generations.young
            generations.young = []
        }
        generations.young.insert(digest)
    }
}
