import Crypto

/// SHA-256 in the formats that the modules share.
package enum SecureHash {
    /// SHA-256 of the UTF-8 bytes, 32 bytes: the format of stored random handles.
    package static func sha256(_ text: String) -> [UInt8] {
        [UInt8](SHA256.hash(data: Array(text.utf8)))
    }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](SHA256.hash(data: bytes))
    }

    /// Lowercase hexadecimal SHA-256, 64 characters: the format of Firebase's hashed nonces and session IDs.
    package static func sha256Hex(_ text: String) -> String {
        sha256(text).lowercaseHex
    }
}

/// Comparisons of secrets that do not stop at the first difference.
package enum ConstantTime {
    /// Compares in time that depends only on the lengths.
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }

    /// Compares the UTF-8 bytes in time that depends only on the lengths.
    package static func equal(_ left: String, _ right: String) -> Bool {
        equal(Array(left.utf8), Array(right.utf8))
    }
}

extension [UInt8] {
    /// Two lowercase hexadecimal digits for each byte.
    package var lowercaseHex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
