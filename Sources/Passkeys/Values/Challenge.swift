package import Secrets

/// The random bytes that a response must contain, so that it answers this request alone (WebAuthn §13.4.3).
package struct Challenge: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// 256 bits; WebAuthn asks for 128.
    package static func random(from source: RandomSource) -> Challenge { Challenge(bytes: source.bytes(32)) }
}
