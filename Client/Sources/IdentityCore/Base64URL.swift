import Foundation

/// Base64 in the alphabet of URLs, without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    /// Returns nil for any character outside the alphabet, for padding, and for stray bits in the last character.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        // A lone character holds six bits of a byte.
        guard text.count % 4 != 1 else { return nil }
        var isValid = true
        let bytes = text.withUnsafeBufferPointer { text in
            values.withUnsafeBufferPointer { values in
                [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { bytes, count in
                    var seen: UInt8 = 0
                    let whole = text.count & ~3
                    for start in stride(from: 0, to: whole, by: 4) {
                        let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
                        let (c, d) = (values[Int(text[start + 2])], values[Int(text[start + 3])])
                        seen |= a | b | c | d
                        bytes[count] = a << 2 | b >> 4 & 3
                        bytes[count + 1] = b << 4 | c >> 2 & 15
                        bytes[count + 2] = c << 6 | d & 63
                        count += 3
                    }
                    // Two characters are left for one byte, three for two.
                    let rest = text.count - whole
                    var bits: UInt32 = 0
                    for index in whole..<text.count {
                        let value = values[Int(text[index])]
                        seen |= value
                        bits = bits << 6 | UInt32(value & 63)
                    }
                    bits <<= UInt32(6 * (4 - rest))
                    for index in 0..<max(0, rest - 1) {
                        bytes[count] = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))
                        count += 1
                    }
                    isValid = seen < 64 && (rest == 0 || bits & (rest == 2 ? 0xffff : 0xff) == 0)
                }
            }
        }
        return isValid ? bytes : nil
    }

    package static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)[...]) }

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
