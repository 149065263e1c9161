import Foundation

/// A display name in an email.
enum MailName {
    /// A display name that cannot pass for a link or a message; nil for another.
    ///
    /// An attacker who signs up with someone's email chooses the name that our email to that address starts with.
    /// It is read as a mail program or a browser does: by scalars, with compatibility characters folded (`．` to `.`),
    /// without those that nobody sees, and with either slash. `。` separates the labels of a domain, too.
    static func harmless(_ name: String) -> String? {
        let read = Array(name.precomposedStringWithCompatibilityMapping.unicodeScalars)
        let seen = String(String.UnicodeScalarView(read.filter { !$0.properties.isDefaultIgnorableCodePoint }))
        // The slash of an end tag, which our emails escape, leads nowhere.
        let endTag = /<\/(?=\p{L})/.matchingSemantics(.unicodeScalar)
        let link = /[.。\/:@\\]\p{M}*[\p{L}\p{N}]\p{M}*[\p{L}\p{N}]|[\/\\:]\p{M}*[\/\\]/.matchingSemantics(
            .unicodeScalar
        )
        guard (1...64).contains(read.count), !seen.replacing(endTag, with: "<").contains(link) else { return nil }
        return read.indices.allSatisfy { isHarmless($0, in: read) } ? name : nil
    }

    /// Characters that nobody sees are allowed where a script or an emoji needs them.
    private static func isHarmless(_ index: Int, in name: [Unicode.Scalar]) -> Bool {
        let scalar = name[index]
        if Joiners.contains(scalar) { return Joiners.isInContext(index, in: name) }
        if scalar.properties.isVariationSelector { return index > 0 && hasVariants(name[index - 1]) }
        return !scalar.properties.isDefaultIgnorableCodePoint
            && ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    /// Emoji, ideographs (`葛󠄀`) and letters of Mongolian.
    private static func hasVariants(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji || scalar.properties.isIdeographic || (0x1800...0x18af).contains(scalar.value)
    }
}
