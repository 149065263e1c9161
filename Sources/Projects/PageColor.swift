import Foundation

/// A color of a project's pages: only red, green and blue, so it is safe in a style sheet.
package struct PageColor: Sendable, Hashable, Codable {
    private let value: UInt32

    private init(value: UInt32) { self.value = value }

    /// - Parameter text: `#rrggbb`; nil for any other.
    package init?(_ text: String) {
        guard text.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil, let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        self.value = value
    }

    /// `#rrggbb`, in lowercase.
    package var text: String {
        let digits = String(value, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let color = PageColor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no color")
        }
        self = color
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    // MARK: Contrast

    package static let black = PageColor(value: 0)
    package static let white = PageColor(value: 0xffffff)

    /// WCAG 2.2, "relative luminance": 0 for black, 1 for white.
    private var luminance: Double {
        let weights = [(16, 0.2126), (8, 0.7152), (0, 0.0722)]
        return weights.reduce(0) { sum, weight in
            let channel = Double(value >> weight.0 & 0xff) / 255
            return sum + weight.1 * (channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4))
        }
    }

    /// WCAG 2.2, "contrast ratio": 1 to 21.
    package func contrast(with other: PageColor) -> Double {
        (max(luminance, other.luminance) + 0.05) / (min(luminance, other.luminance) + 0.05)
    }

    /// Black or white, whichever is easier to read on this color.
    ///
    /// The ratio is never below 4.58, and AA requires 4.5, so any color is allowed.
    package var readableText: PageColor { contrast(with: .black) > contrast(with: .white) ? .black : .white }
}
