import Synchronization
package import SystemCrypto

/// Parsed public keys: parsing one takes thirty times as long as verifying a signature with it.
///
/// The cache does not remember whether a key is valid; that is looked up each time.
package final class RSAPublicKeyCache: Sendable {
    private let keys = Mutex<[[UInt8]: RSAPublicKey]>([:])
    private let limit: Int

    /// - Parameter capacity: the maximum number of keys; beyond it, all are dropped.
    package init(capacity: Int) { self.limit = capacity }

    /// - Parameter der: `SubjectPublicKeyInfo` (RFC 5280 §4.1).
    /// - Returns: nil for anything but an RSA key of 2048 to 4096 bits.
    package func key(_ der: [UInt8]) -> RSAPublicKey? {
        if let known = keys.withLock({ $0[der] }) { return known }
        guard let key = try? RSAPublicKey(subjectPublicKeyInfo: der) else { return nil }
        keys.withLock { keys in
            if keys.count >= limit { keys.removeAll() }
            keys[der] = key
        }
        return key
    }
}
