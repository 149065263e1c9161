import Foundation

/// Base64 in the alphabet of URLs, without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    /// Returns nil for any character outside the alphabet, for padding, and for stray bits in the last character.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // A rest of six bits is a lone character; other rests must be zero.
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()
}
