import Crypto
import Synchronization

/// Remembers verified signatures by the SHA-256 of the whole token: of tokens that this process verified or created.
///
/// It stores no content: the token is parsed and its key looked up each time. Entries live in two generations; when the
/// younger is full, it becomes the older, and the older is dropped.
package final class VerifiedTokenCache: Sendable {
    /// Half of a SHA-256: finding another token that matches one of 65,536 entries takes 2^112 attempts.
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

    /// - Parameter capacity: the maximum number of tokens, at least 2; each takes 16 to 48 bytes.
    package init(capacity: Int) { self.limit = max(1, capacity / 2) }

    /// The number of remembered tokens.
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
