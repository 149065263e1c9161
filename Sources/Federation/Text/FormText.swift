/// `application/x-www-form-urlencoded` text and URL queries.
package enum FormText {
    /// The pairs in order: split at `&`, then at the first `=`; names and values still encoded.
    package static func pairs(_ text: String) -> [(name: Substring, value: Substring)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (Substring(part), "") }
            return (Substring(part[..<equals]), Substring(part[part.index(after: equals)...]))
        }
    }

    /// Decodes `%XX`, and optionally `+` as a space.
    ///
    /// Anything that is not an escape stays unchanged, because some clients send values without encoding them. Invalid
    /// UTF-8 becomes U+FFFD.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
        let source = Array(text.utf8)
        guard source.contains(where: { $0 == UInt8(ascii: "%") || ($0 == UInt8(ascii: "+") && plusIsSpace) }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "%"), index + 2 < source.count, let high = hexDigit(source[index + 1]),
                let low = hexDigit(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(byte == UInt8(ascii: "+") && plusIsSpace ? 32 : byte)
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes everything except RFC 3986's unreserved characters as `%XX`: a space is `%20`, never `+`, which Apple
    /// refuses.
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func encode(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
