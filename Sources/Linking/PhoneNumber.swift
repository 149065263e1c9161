import Text

/// A phone number in E.164: `+`, then 7 to 15 digits of which the first is not zero.
package struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// `+491701234567`.
    package let text: String

    /// Normalizes a number as libphonenumber does: without spaces, dashes, dots, brackets, and a national prefix after the
    /// calling code (`+49 (0)170 …`).
    ///
    /// Nil if the rest is not a number, or no number of its calling code has as many digits.
    package init?(_ text: String) {
        guard let digits = Self.digits(of: text), let plan = NumberingPlan.of(digits),
            let national = plan.normalize(digits.dropFirst(plan.code.count)),
            Self.lengths.contains(plan.code.utf8.count + national.utf8.count)
        else { return nil }
        self.text = "+\(plan.code)\(national)"
    }

    /// A number that any release stored: earlier ones stored what no calling code has.
    package init?(stored text: String) {
        if let number = PhoneNumber(text) {
            self = number
            return
        }
        guard let digits = Self.digits(of: text), Self.lengths.contains(digits.utf8.count) else { return nil }
        self.text = "+\(digits)"
    }

    private static let lengths = 7...15

    private static func digits(of text: String) -> Substring? {
        guard text.utf8.count <= 64 else { return nil }
        let number = text.filter { !" -.()".contains($0) }
        guard number.hasPrefix("+"), number.utf8.count <= 24, number.dropFirst().consists(of: .digits),
            number.dropFirst().first != "0"
        else { return nil }
        return number.dropFirst()
    }

    /// This number, and the same with its national prefix, as earlier releases stored it if it was entered like that.
    package var spellings: [String] {
        guard let plan = NumberingPlan.of(digits), !plan.nationalPrefix.isEmpty else { return [text] }
        return [text, "+\(plan.code)\(plan.nationalPrefix)\(digits.dropFirst(plan.code.count))"]
    }

    /// Without the `+`.
    package var digits: Substring { text.dropFirst() }

    /// `+********4567`: enough for its owner to recognize it.
    package var masked: String { "+" + String(repeating: "*", count: digits.count - 4) + digits.suffix(4) }

    /// Masked, because logs must not contain phone numbers.
    package var description: String { masked }
}
