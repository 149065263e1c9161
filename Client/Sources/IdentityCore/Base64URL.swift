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
                    // Returns the bits of up to four characters, the first one highest.
                    func take(_ range: Range<Int>) -> UInt32 {
                        var bits: UInt32 = 0
                        for index in range {
                            let value = values[Int(text[index])]
                            seen |= value
                            bits = bits << 6 | UInt32(value & 63)
                        }
                        return bits
                    }
                    let whole = text.count & ~3
                    for start in stride(from: 0, to: whole, by: 4) {
                        let bits = take(start..<start + 4)
                        bytes[count] = UInt8(truncatingIfNeeded: bits >> 16)
                        bytes[count + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                        bytes[count + 2] = UInt8(truncatingIfNeeded: bits)
                        count += 3
                    }
                    // Two characters are left for one byte, three for two.
                    let rest = text.count - whole
                    let bits = take(whole..<text.count) << UInt32(6 * (4 - rest))
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
