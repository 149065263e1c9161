import Text

/// A phone number in E.164: `+`, then 7 to 15 digits of which the first is not zero.
package struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// `+491701234567`.
    package let text: String

    /// Removes spaces, dashes, dots and brackets; nil if the rest is not a number.
    package init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let number = text.filter { !" -.()".contains($0) }
        guard number.hasPrefix("+"), (8...16).contains(number.utf8.count),
            number.dropFirst().consists(of: .digits), number.dropFirst().first != "0"
        else { return nil }
        self.text = number
    }

    /// Without the `+`.
    package var digits: Substring { text.dropFirst() }

    /// `+********4567`: enough for its owner to recognize it.
    package var masked: String { "+" + String(repeating: "*", count: digits.count - 4) + digits.suffix(4) }

    /// Masked, because logs must not contain phone numbers.
    package var description: String { masked }
}
