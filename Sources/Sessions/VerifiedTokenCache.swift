import Crypto
import Synchronization

/// Remembers signatures that were right, by the SHA-256 of the token, so that a token is verified once while it is in use.
///
/// It holds form and signature alone: issuer, audience, times and whether the key is still known are looked at each
/// time. Entries live in two generations; when the younger is full it becomes the older and the older is forgotten.
package final class VerifiedTokenCache: Sendable {
    private struct Generations {
        var young: [SHA256Digest: SignedIDToken] = [:]
        var old: [SHA256Digest: SignedIDToken] = [:]
    }

    private let generations = Mutex(Generations())
    private let limit: Int

    /// - Parameter capacity: how many tokens to remember at most, at least 2; each takes about 600 bytes.
    package init(capacity: Int) { self.limit = max(1, capacity / 2) }

    /// How many tokens are remembered.
    package var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    func find(_ digest: SHA256Digest) -> SignedIDToken? {
        generations.withLock { generations in
            if let token = generations.young[digest] { return token }
            guard let token = generations.old.removeValue(forKey: digest) else { return nil }
            insert(token, for: digest, into: &generations)
            return token
        }
    }

    func insert(_ token: SignedIDToken, for digest: SHA256Digest) {
        generations.withLock { insert(token, for: digest, into: &$0) }
    }

    func remove(_ digest: SHA256Digest) {
        generations.withLock { generations in
            generations.young[digest] = nil
            generations.old[digest] = nil
        }
    }

    private func insert(_ token: SignedIDToken, for digest: SHA256Digest, into generations: inout Generations) {
        if generations.young.count >= limit {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[digest] = token
    }
}
