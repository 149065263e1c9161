/// A code as users type it or paste it from a message: with spaces or hyphens between groups, in the digits of their own
/// script, in full width.
package enum TypedCode {
    /// What is left without spaces, dashes and invisible characters, in ASCII where that has the same digit or letter.
    package static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            switch properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator, .dashPunctuation, .format: continue
            case .decimalNumber:
                guard let value = properties.numericValue else { fallthrough }
                plain.append(contentsOf: String(Int(value)).unicodeScalars)
            default:
                guard !properties.isWhitespace, scalar != "\u{2212}" else { continue }
                let isFullWidth = (0xff01...0xff5e).contains(scalar.value)
                plain.append(isFullWidth ? Unicode.Scalar(UInt8(scalar.value - 0xfee0)) : scalar)
            }
        }
        return String(plain)
    }

    /// The six digits of a code; nil if it cannot be one, which is no attempt at a right one.
    package static func sixDigits(_ text: String) -> String? {
        let plain = plain(text)
        return plain.utf8.count == 6 && plain.consists(of: .digits) ? plain : nil
    }
}

extension String {
    /// Without leading and trailing spaces and invisible characters, which pasted text often has.
    package var trimmingSpaces: String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isWhitespace || scalar.properties.generalCategory == .format
        }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(scalars[first...last])
    }
}
