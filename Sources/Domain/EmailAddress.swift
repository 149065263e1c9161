import Foundation
import Text

/// One email address: the canonical form, by which accounts are found, and the original, to which email is sent.
///
/// The canonical form is computed once, before any comparison (T-E4). Compatibility characters are refused if folding
/// them would change the address's structure or produce an ASCII letter, and so another user's address. Letters are
/// lowercased with the root locale; the domain is written as ASCII (IDNA). Dots and `+tag` stay, because only the mail
/// server knows what they mean.
package struct EmailAddress: Sendable, Hashable, CustomStringConvertible {
    /// Lowercase, NFKC, domain in ASCII; `canonical(canonical(x)) == canonical(x)`.
    package let canonical: String
    /// As it was entered.
    package let original: String

    /// The part after the last `@`, in ASCII.
    package var domain: String { String(canonical[canonical.index(after: at)...]) }
    /// The canonical form without what follows a `+` before the `@`, and at Gmail without dots: addresses of one mailbox
    /// at most providers.
    ///
    /// For limits alone.
    package var mailbox: String {
        let local = canonical[..<(tag ?? at)]
        guard ["gmail.com", "googlemail.com"].contains(domain) else { return String(local + canonical[at...]) }
        return local.split(separator: ".").joined() + "@gmail.com"
    }

    /// Whether it is another spelling of its mailbox's own address: with a tag, or at Gmail with dots.
    package var isVariant: Bool { canonical != mailbox }

    private var tag: String.Index? {
        let plus = canonical.utf8[..<at].firstIndex(of: UInt8(ascii: "+"))
        return plus == canonical.startIndex ? nil : plus
    }

    private var at: String.Index { canonical.lastIndex(of: "@") ?? canonical.startIndex }

    /// An address is personal data: logs contain account IDs instead.
    package var description: String { "<email>" }

    /// Nil for anything but one `local@domain` of fewer than 256 bytes, 64 at most before the `@` (RFC 5321
    /// §4.5.3.1.1): no surrounding space, control character, quote,
    /// comma, bracket, second `@` or empty label, and nothing that becomes one of these when normalized.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count < 256,
            text.utf8.prefix(while: { $0 != UInt8(ascii: "@") }).count <= Self.longestLocalPart
        else { return nil }
        if let canonical = Self.plain(text) {
            self.canonical = canonical
            self.original = text
            return
        }
        let folded = text.precomposedStringWithCompatibilityMapping.lowercased()
        guard Self.structure(of: folded) == Self.structure(of: text), Self.keepsItsLetters(text) else { return nil }
        let parts = folded.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isLocalPart(parts[0]), let domain = Self.asciiDomain(String(parts[1])) else {
            return nil
        }
        let canonical = parts[0] + "@" + domain
        guard canonical.utf8.count < 256 else { return nil }
        self.canonical = String(canonical)
        self.original = text
    }

    /// An address from the database: `original` was already normalized by ``init(_:)``.
    package init(canonical: String, original: String) {
        self.canonical = canonical
        self.original = original
    }

    /// The canonical form of an address of letters, digits and single dots, dashes and pluses around one `@`.
    ///
    /// This fast path covers most addresses; the rules below would change only their capitals. Nil says nothing about
    /// any other address.
    private static func plain(_ text: String) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var previous: UInt8?
        var at: Int?
        var labelStart = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            case UInt8(ascii: "+") where at == nil && isLetterOrDigit(previous): bytes.append(byte)
            case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "@"):
                guard isLetterOrDigit(previous), bytes.count - labelStart <= 63 else { return nil }
                if byte == UInt8(ascii: "@") {
                    guard at == nil else { return nil }
                    at = bytes.count
                }
                if byte != UInt8(ascii: "-") { labelStart = bytes.count + 1 }
                bytes.append(byte)
            default: return nil
            }
            previous = byte
        }
        // A label such as `xn--…` has two dashes in a row and takes the slow path.
        guard at != nil, isLetterOrDigit(previous), bytes.count - labelStart <= 63 else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let longestLocalPart = 64

    private static func isLetterOrDigit(_ byte: UInt8?) -> Bool { byte.map(ASCIISet.alphanumerics.contains) ?? false }

    /// The characters that determine an address's structure, in order; folding must not add any.
    private static func structure(of text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { "@.,;:<>()[]\\\"/ ".unicodeScalars.contains($0) }
    }

    /// False for invisible letters, and for letters outside ASCII that folding would turn into ASCII: `ﬃ`, full-width
    /// `ａ`, the Kelvin sign, the Turkish `İ`.
    private static func keepsItsLetters(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII { return true }
            let folded = String(scalar).precomposedStringWithCompatibilityMapping.lowercased()
            return !scalar.properties.isDefaultIgnorableCodePoint && folded.unicodeScalars.allSatisfy { !$0.isASCII }
        }
    }

    private static func isLocalPart(_ text: Substring) -> Bool {
        // Dots anywhere: Japan's carriers gave such addresses to many people, and HTML's grammar has them.
        guard (1...longestLocalPart).contains(text.utf8.count) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII {
                return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || ".!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
            }
            return switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
                .paragraphSeparator:
                false
            default: true
            }
        }
    }

    private static func asciiDomain(_ text: String) -> String? {
        guard let ascii = IDNA.ascii(text) else { return nil }
        let labels = ascii.split(separator: ".", omittingEmptySubsequences: false)
        // The parser adds its own dots (U+3002) and drops characters, so each label is compared: only labels that
        // needed encoding may have changed.
        let given = text.split(separator: ".", omittingEmptySubsequences: false)
        guard given.count == labels.count,
            zip(given, labels).allSatisfy({ $0 == $1 || $1.hasPrefix("xn--") && !$0.isASCII })
        else { return nil }
        return labels.allSatisfy(\.isHostLabel) && ascii.utf8.count <= 253 ? ascii : nil
    }
}

/// Coded as its original text; decoding applies the same rules again.
extension EmailAddress: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = EmailAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an email address")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(original)
    }
}
