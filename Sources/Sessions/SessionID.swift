package import Secrets

/// The ID of a session, `firebase.sid` in ID tokens: 16 random bytes in base64url, 22 characters.
package struct SessionID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Nil for anything but the canonical spelling of 16 bytes.
    package init?(rawValue: String) {
        guard rawValue.utf8.count == 22, Base64URL.decode(rawValue) != nil else { return nil }
        self.rawValue = rawValue
    }

    /// Generates an ID.
    package init(random: RandomSource) {
        self.init(bytes: random.bytes(16))
    }

    /// - Parameter bytes: 16 or more, of which the first count.
    package init(bytes: [UInt8]) { rawValue = Base64URL.encode(bytes.prefix(16)) }

    package var description: String { rawValue }
}
