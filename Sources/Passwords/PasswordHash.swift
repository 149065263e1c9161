/// A stored password hash.
///
/// Its description does not contain the hash.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package enum Origin: Sendable, Hashable {
        /// Made with the project's signer key.
        case project(ScryptParameters)
        /// Imported, and not yet replaced with one of the project's algorithm.
        case imported(PasswordConfiguration)
    }

    package let salt: [UInt8]
    /// As long as the project's signer key, 64 bytes, if it uses the project's algorithm.
    package let hash: [UInt8]
    package let origin: Origin

    package init(salt: [UInt8], hash: [UInt8], origin: Origin) {
        self.salt = salt
        self.hash = hash
        self.origin = origin
    }

    package init(salt: [UInt8], hash: [UInt8], parameters: ScryptParameters) {
        self.init(salt: salt, hash: hash, origin: .project(parameters))
    }

    /// The parameters of the project's algorithm; nil for an imported hash.
    package var parameters: ScryptParameters? {
        switch origin {
        case .project(let parameters): parameters
        case .imported: nil
        }
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
