import Text

/// External text, made safe for a message or a log line.
enum SafeText {
    /// Compares byte by byte, because `String` treats `K` and the Kelvin sign as equal.
    static func isOne(_ text: String, of known: [String]) -> Bool {
        known.contains { $0.utf8.elementsEqual(text.utf8) }
    }

    /// At most 200 characters; control characters and line breaks become spaces.
    static func short(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
            default: scalar
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// A provider's error code: RFC 6749 allows visible ASCII; anything else becomes `_`, at most 64 characters.
    static func code(_ text: String) -> String {
        let plain: ASCIISet = .alphanumerics + "-._"
        let bytes = text.utf8.prefix(64).map { plain.contains($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
