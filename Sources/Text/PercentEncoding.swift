/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Encodes every byte outside a set, which is RFC 3986's unreserved characters by default.
    ///
    /// A space becomes `%20`, never `+`, which Apple refuses.
    package static func encode(_ text: some StringProtocol, keeping kept: ASCIISet = .unreserved) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil for an invalid escape, invalid UTF-8, or a NUL.
    package static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        let (bytes, isValid) = bytes(of: text, plusIsSpace: plusIsSpace)
        return isValid && !bytes.contains(0) ? String(validating: bytes, as: UTF8.self) : nil
    }

    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        decode(Array(text.utf8)[...], plusIsSpace: plusIsSpace)
    }

    /// Decodes as browsers do: an invalid escape stays as it is, and invalid UTF-8 becomes U+FFFD.
    ///
    /// For clients and providers that send values without encoding them.
    package static func decodeLeniently(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        String(decoding: bytes(of: Array(text.utf8)[...], plusIsSpace: plusIsSpace).bytes, as: UTF8.self)
    }

    private static func bytes(
        of text: ArraySlice<UInt8>,
        plusIsSpace: Bool
    ) -> (bytes: ArraySlice<UInt8>, isValid: Bool) {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return (text, true) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isValid = true
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "%"):
                if index + 1 < text.endIndex, let high = text[index].hexadecimalDigit,
                    let low = text[index + 1].hexadecimalDigit
                {
                    bytes.append(high << 4 | low)
                    index += 2
                } else {
                    bytes.append(byte)
                    isValid = false
                }
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return (bytes[...], isValid)
    }
}
