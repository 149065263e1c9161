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

    /// This number, the same with its national prefix, as earlier releases stored it if it was entered like that, and as
    /// its country wrote it before.
    package var spellings: [String] {
        guard let plan = NumberingPlan.of(digits) else { return [text] }
        let national = digits.dropFirst(plan.code.count)
        let prefixed = plan.nationalPrefix.isEmpty ? [] : [plan.nationalPrefix + national]
        return [text] + (prefixed + Self.former(national, of: plan.code)).map { "+\(plan.code)\($0)" }
    }

    /// A national number in plans that ended, if it is certainly the same subscriber's.
    private static func former(_ national: Substring, of code: String) -> [String] {
        switch code {
        // Mexico, until 2019: mobile numbers from abroad.
        case "52": ["1" + national]
        // Benin, until 2024: without the first two digits.
        case "229" where national.hasPrefix("01"): [String(national.dropFirst(2))]
        // Côte d'Ivoire, until 2021: mobile numbers had eight digits, of which the second told the operator, as the first two
        // do now; 2 and 3 began numbers of landlines.
        case "225" where national.utf8.count == 10 && !["2", "3"].contains(national.dropFirst(2).first):
            switch (national.prefix(2), national.utf8.dropFirst(3).first ?? 0) {
            case ("01", UInt8(ascii: "0")...UInt8(ascii: "3")), ("05", UInt8(ascii: "4")...UInt8(ascii: "6")),
                ("07", UInt8(ascii: "7")...UInt8(ascii: "9")):
                [String(national.dropFirst(2))]
            default: []
            }
        // Lithuania, until 2024: the national prefix was 8.
        case "370": ["8" + national]
        default: []
        }
    }

    /// Without the `+`.
    package var digits: Substring { text.dropFirst() }

    /// `+********4567`: enough for its owner to recognize it.
    package var masked: String { "+" + String(repeating: "*", count: digits.count - 4) + digits.suffix(4) }

    /// Masked, because logs must not contain phone numbers.
    package var description: String { masked }
}
