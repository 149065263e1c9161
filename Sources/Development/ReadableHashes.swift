package import Secrets

/// Reads the password hashes of the emulator, which hold the password: `fakeHash:salt=…:password=…`.
package enum ReadableHashes {
    /// Nil for any other hash.
    package static func password(in hash: String) -> Secret? {
        hash.firstMatch(of: /^fakeHash:salt=[^:]*:password=/).map { Secret(String(hash[$0.range.upperBound...])) }
    }
}
