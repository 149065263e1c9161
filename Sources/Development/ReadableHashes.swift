package import Secrets

/// Reads the emulator's password hashes, which contain the password: `fakeHash:salt=…:password=…`.
package enum ReadableHashes {
    /// Nil for any other hash.
    package static func password(in hash: String) -> Secret? {
        hash.firstMatch(of: /^fakeHash:salt=[^:]*:password=/).map { Secret(String(hash[$0.range.upperBound...])) }
    }
}
