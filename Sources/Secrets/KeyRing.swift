import Crypto
import Text

/// Encrypts secrets in the database: AES-256-GCM under named keys, bound to the place where they are stored.
///
/// A sealed value is `version (1 byte) ‖ length of the key ID (1) ‖ key ID ‖ nonce (12) ‖ ciphertext ‖ tag (16)`. The
/// first key seals; every key opens, so that a new key can be added at the front while old rows can still be opened.
package struct KeyRing: Sendable {
    /// Its description is its ID.
    package struct Key: Sendable, CustomStringConvertible, CustomReflectable {
        package let id: String
        fileprivate let material: SymmetricKey
        /// Derived, so that one key is never used with two algorithms.
        fileprivate let authentication: HMAC<SHA256>

        /// - Parameters:
        ///   - id: 1 to 64 characters of ASCII.
        ///   - bytes: 32 bytes.
        package init(id: String, bytes: [UInt8]) throws(KeyRingError) {
            guard (1...64).contains(id.utf8.count), id.consists(of: .visible) else {
                throw .invalidKey("a key ID must have 1 to 64 ASCII characters")
            }
            guard bytes.count == 32 else { throw .invalidKey("key \(id) must have 32 bytes") }
            self.id = id
            self.material = SymmetricKey(data: bytes)
            self.authentication = HMAC(
                key: HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: material,
                    info: Array("identity HMAC-SHA256".utf8),
                    outputByteCount: 32
                )
            )
        }

        package var description: String { "Key(\(id))" }
        package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
    }

    private let keys: [Key]

    /// - Parameter keys: at least one; the first one seals.
    package init(keys: [Key]) throws(KeyRingError) {
        guard !keys.isEmpty else { throw .invalidKey("at least one encryption key is required") }
        guard Set(keys.map(\.id)).count == keys.count else { throw .invalidKey("two encryption keys have the same ID") }
        self.keys = keys
    }

    /// Seals bytes for one place, such as `signing_keys/<kid>`; they can only be opened for it.
    package func seal(_ bytes: [UInt8], for place: String) throws(KeyRingError) -> [UInt8] {
        let key = keys[0]
        guard let box = try? AES.GCM.seal(bytes, using: key.material, authenticating: Array(place.utf8)),
            let combined = box.combined
        else { throw .cannotSeal }
        return Self.prefix(of: key) + [UInt8](combined)
    }

    package func seal(_ secret: Secret, for place: String) throws(KeyRingError) -> [UInt8] {
        try seal(Array(secret.reveal().utf8), for: place)
    }

    /// Opens a value that ``seal(_:for:)-([UInt8],_)`` sealed for the same place.
    package func open(_ sealed: [UInt8], for place: String) throws(KeyRingError) -> [UInt8] {
        guard sealed.count > 2, sealed[0] == 1, sealed.count > 2 + Int(sealed[1]) else { throw .cannotOpen }
        let idEnd = 2 + Int(sealed[1])
        let id = String(decoding: sealed[2..<idEnd], as: UTF8.self)
        guard let key = keys.first(where: { $0.id == id }) else { throw .unknownKey(id) }
        guard let box = try? AES.GCM.SealedBox(combined: sealed[idEnd...]),
            let bytes = try? AES.GCM.open(box, using: key.material, authenticating: Array(place.utf8))
        else { throw .cannotOpen }
        return [UInt8](bytes)
    }

    /// The IDs of the keys; the first key seals.
    package var ids: [String] { keys.map(\.id) }

    /// The first bytes of all values that the first key sealed.
    package var prefix: [UInt8] { Self.prefix(of: keys[0]) }

    private static func prefix(of key: Key) -> [UInt8] { [1, UInt8(key.id.utf8.count)] + Array(key.id.utf8) }

    /// The number of keys.
    package var count: Int { keys.count }

    /// HMAC-SHA256 of a message, 32 bytes, with one of the keys; by default the first.
    package func authenticationCode(of message: [UInt8], key index: Int = 0) -> [UInt8] {
        var code = keys[index].authentication
        code.update(data: message)
        return [UInt8](code.finalize())
    }

    package func openSecret(_ sealed: [UInt8], for place: String) throws(KeyRingError) -> Secret {
        Secret(String(decoding: try open(sealed, for: place), as: UTF8.self))
    }
}

package enum KeyRingError: Error, Equatable {
    case invalidKey(String)
    case cannotSeal
    case cannotOpen
    case unknownKey(String)
}
