/// A password as it is stored.
///
/// It prints nothing of itself.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let salt: [UInt8]
    /// As long as the project's signer key, 64 bytes.
    package let hash: [UInt8]
    package let parameters: ScryptParameters

    package init(salt: [UInt8], hash: [UInt8], parameters: ScryptParameters) {
        self.salt = salt
        self.hash = hash
        self.parameters = parameters
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
