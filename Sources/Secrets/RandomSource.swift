import Crypto

/// A source of random bytes, which tests can replace.
package struct RandomSource: Sendable {
    private let fill: @Sendable (Int) -> [UInt8]

    package init(fill: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.fill = fill }

    /// swift-crypto's generator, which the system seeds.
    ///
    /// It also generates keys, and needs no system call for every eight bytes.
    package static let system = RandomSource { count in
        guard count > 0 else { return [] }
        return unsafe SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { unsafe [UInt8]($0) }
    }

    package func bytes(_ count: Int) -> [UInt8] { fill(count) }

    /// A handle of 256 random bits, 43 characters of base64url.
    package func handle() -> String { Base64URL.encode(fill(32)) }

    /// Text of `count` characters, each chosen uniformly from `alphabet` (2 to 256 ASCII characters).
    package func text(_ count: Int, of alphabet: String) -> String {
        let letters = Array(alphabet.utf8)
        let limit = 256 - 256 % letters.count  // above it, a remainder would favour the first letters
        var text: [UInt8] = []
        while text.count < count {
            for byte in fill(count - text.count) where Int(byte) < limit {
                text.append(letters[Int(byte) % letters.count])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A version 4 UUID (RFC 9562 §5.4), 36 lowercase characters.
    package func uuid() -> String {
        var bytes = fill(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let hex = Array(bytes.lowercaseHex)
        return [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20..<32]].map { String($0) }
            .joined(separator: "-")
    }
}
