/// The ASCII characters that have a meaning in a format, and how the format writes them as text.
///
/// Escaping goes by bytes. A Swift `Character` may join one of these with its neighbours: `"\u{D4E}<"` and `"<\u{301}"`
/// are one Character each and not equal to `"<"`, but a browser still reads a bracket.
package struct Escapes: Sendable {
    /// By byte.
    private var replacements = [String?](repeating: nil, count: 128)

    private init(_ replacements: KeyValuePairs<Unicode.Scalar, String>) {
        for (scalar, text) in replacements { self.replacements[Int(UInt8(ascii: scalar))] = text }
    }

    /// The text of an element, or an attribute's value in quotation marks of either kind.
    package static let html = Escapes(["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"])
    /// JSON in a `script` element, which it then cannot end.
    package static let jsonInHTML = Escapes(["<": #"\u003c"#])
    /// A quoted field of CSV (RFC 4180).
    package static let csv = Escapes(["\"": "\"\""])
    /// A quoted element of a PostgreSQL array.
    package static let arrayElement = Escapes(["\\": #"\\"#, "\"": #"\""#])
    /// A quoted value of a libpq connection string.
    package static let conninfo = Escapes(["\\": #"\\"#, "'": #"\'"#])

    fileprivate func callAsFunction(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte < 0x80, let replacement = replacements[Int(byte)] {
                escaped += replacement.utf8
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension String {
    package func escaped(_ escapes: Escapes) -> String { escapes(self) }
}
