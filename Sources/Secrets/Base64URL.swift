/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [Int8] = {
        var values = [Int8](repeating: -1, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = Int8(value) }
        return values
    }()

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(Array(bytes), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes to the end of text that is still bytes, such as an unfinished token.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let alphabet = Self.alphabet
        text.append(addingCapacity: (bytes.count * 4 + 2) / 3) { text in
            let whole = bytes.count - bytes.count % 3
            for index in stride(from: 0, to: whole, by: 3) {
                let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                text.append(alphabet[Int(group >> 18)])
                text.append(alphabet[Int(group >> 12 & 63)])
                text.append(alphabet[Int(group >> 6 & 63)])
                text.append(alphabet[Int(group & 63)])
            }
            let rest = bytes.count - whole
            guard rest > 0 else { return }
            let group = UInt32(bytes[whole]) << 16 | (rest == 2 ? UInt32(bytes[whole + 1]) << 8 : 0)
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12 & 63)])
            if rest == 2 { text.append(alphabet[Int(group >> 6 & 63)]) }
        }
    }

    /// The length of the text of a number of bytes.
    package static func length(of count: Int) -> Int { (count * 4 + 2) / 3 }

    /// The bytes, or nil for anything but the one canonical spelling.
    ///
    /// Padding, white space, foreign characters and unused bits that are not zero are refused, so that no two texts
    /// have the same bytes.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    /// Decodes text that is still bytes, such as a part of a token.
    package static func decode(_ characters: ArraySlice<UInt8>) -> [UInt8]? {
        guard characters.count % 4 != 1 else { return nil }
        let values = Self.values
        var foreign: Int8 = 0
        var unused: UInt32 = 0
        let bytes = [UInt8](capacity: characters.count * 3 / 4) { bytes in
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for character in characters {
                let value = values[Int(character)]
                foreign |= value
                buffer = buffer << 6 | UInt32(truncatingIfNeeded: value)
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
                }
            }
            unused = buffer & (1 << bits - 1)
        }
        return foreign < 0 || unused != 0 ? nil : bytes
    }
}
