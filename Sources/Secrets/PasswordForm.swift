import Foundation

extension String {
    /// A password in Normalization Form C, in which passwords are stored (of RFC 8265 §4.2.2, this step alone): an `ä` is the
    /// same typed on a Mac, which may send two characters, and elsewhere.
    ///
    /// A text that is no password's is returned as it is.
    package var composedPassword: String { isComposable ? precomposedStringWithCanonicalMapping : self }

    /// The other form under which a password may have been stored: as typed, or decomposed if it was typed composed.
    ///
    /// Nil if there is none.
    package var otherPassword: String? {
        guard isComposable else { return nil }
        let composed = composedPassword
        let other = composed.utf8.elementsEqual(utf8) ? decomposedStringWithCanonicalMapping : self
        return other.utf8.elementsEqual(composed.utf8) ? nil : other
    }

    /// Whether composing may change it, in time that grows with its length: no text has more than 30 marks in a row
    /// (Unicode TR 15, Stream-Safe Text Format), which would take time with the square of their number.
    private var isComposable: Bool {
        guard utf16.count <= 4_096, !utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks > 30 { return false }
        }
        return true
    }
}
