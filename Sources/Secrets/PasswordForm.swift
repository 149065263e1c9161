import Foundation

extension String {
    /// A password in Normalization Form C, in which passwords are stored (of RFC 8265 §4.2.2, this step alone): an `ä` is the
    /// same typed on a Mac, which may send two characters, and elsewhere.
    ///
    /// A text that is too long for a password is returned as it is: composing takes time with the square of its length.
    package var composedPassword: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }), utf16.count <= 4_096 else { return self }
        return precomposedStringWithCanonicalMapping
    }

    /// The other form under which a password may have been stored: as typed, or decomposed if it was typed composed. Nil if
    /// there is none.
    package var otherPassword: String? {
        let composed = composedPassword
        let other =
            composed.utf8.elementsEqual(utf8) && utf16.count <= 4_096 && !utf8.allSatisfy { $0 < 0x80 }
            ? decomposedStringWithCanonicalMapping : self
        return other.utf8.elementsEqual(composed.utf8) ? nil : other
    }
}
