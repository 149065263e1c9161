import Secrets

/// The identifier that an authenticator chose for a credential, 1 to 1023 bytes (WebAuthn §7.1 step 25).
package struct CredentialID: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard (1...1023).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Base64url without padding: the one spelling that is stored.
    package var description: String { Base64URL.encode(bytes) }
}
