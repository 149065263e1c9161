import Foundation

/// Decodes character references in HTML.
enum HTMLEntities {
    /// A text without its character references; one that no browser knows, or that does not end with `;`, stays.
    static func decode(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        return text.replacing(
            /&(?:#([0-9]{1,8})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,8}));/.matchingSemantics(.unicodeScalar)
        ) {
            if let digits = $0.output.1 { return scalar(UInt32(digits)) }
            if let digits = $0.output.2 { return scalar(UInt32(digits, radix: 16)) }
            return $0.output.3.flatMap { named[$0] } ?? String($0.output.0)
        }
    }

    /// Numbers of Windows-1252 mean its characters, as in browsers.
    private static func scalar(_ number: UInt32?) -> String {
        guard let number, number > 0 else { return "\u{fffd}" }
        if let byte = UInt8(exactly: number), (0x80...0x9f).contains(byte) {
            return String(bytes: [byte], encoding: .windowsCP1252) ?? "\u{fffd}"
        }
        return Unicode.Scalar(number).map { String($0) } ?? "\u{fffd}"
    }

    /// Those of HTML 4, and `apos`.
    private static let named = Dictionary(
        uniqueKeysWithValues: """
            quot=\" amp=& lt=< gt=> nbsp=\u{a0} iexcl=¡ cent=¢ pound=£ curren=¤ yen=¥ brvbar=¦ sect=§ uml=¨ copy=© \
            ordf=ª laquo=« not=¬ shy=\u{ad} reg=® macr=¯ deg=° plusmn=± sup2=² sup3=³ acute=´ micro=µ para=¶ \
            middot=· cedil=¸ sup1=¹ ordm=º raquo=» frac14=¼ frac12=½ frac34=¾ iquest=¿ Agrave=À Aacute=Á Acirc=Â \
            Atilde=Ã Auml=Ä Aring=Å AElig=Æ Ccedil=Ç Egrave=È Eacute=É Ecirc=Ê Euml=Ë Igrave=Ì Iacute=Í Icirc=Î \
            Iuml=Ï ETH=Ð Ntilde=Ñ Ograve=Ò Oacute=Ó Ocirc=Ô Otilde=Õ Ouml=Ö times=× Oslash=Ø Ugrave=Ù Uacute=Ú \
            Ucirc=Û Uuml=Ü Yacute=Ý THORN=Þ szlig=ß agrave=à aacute=á acirc=â atilde=ã auml=ä aring=å aelig=æ \
            ccedil=ç egrave=è eacute=é ecirc=ê euml=ë igrave=ì iacute=í icirc=î iuml=ï eth=ð ntilde=ñ ograve=ò \
            oacute=ó ocirc=ô otilde=õ ouml=ö divide=÷ oslash=ø ugrave=ù uacute=ú ucirc=û uuml=ü yacute=ý thorn=þ \
            yuml=ÿ OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ fnof=ƒ circ=ˆ tilde=˜ Alpha=Α Beta=Β Gamma=Γ Delta=Δ \
            Epsilon=Ε Zeta=Ζ Eta=Η Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν Xi=Ξ Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ \
            Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω alpha=α beta=β gamma=γ delta=δ epsilon=ε zeta=ζ eta=η theta=θ iota=ι \
            kappa=κ lambda=λ mu=μ nu=ν xi=ξ omicron=ο pi=π rho=ρ sigmaf=ς sigma=σ tau=τ upsilon=υ phi=φ chi=χ psi=ψ \
            omega=ω thetasym=ϑ upsih=ϒ piv=ϖ ensp=\u{2002} emsp=\u{2003} thinsp=\u{2009} zwnj=\u{200c} zwj=\u{200d} \
            lrm=\u{200e} rlm=\u{200f} ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ dagger=† \
            Dagger=‡ bull=• hellip=… permil=‰ prime=′ Prime=″ lsaquo=‹ rsaquo=› oline=‾ frasl=⁄ euro=€ image=ℑ \
            weierp=℘ real=ℜ trade=™ alefsym=ℵ larr=← uarr=↑ rarr=→ darr=↓ harr=↔ crarr=↵ lArr=⇐ uArr=⇑ rArr=⇒ dArr=⇓ \
            hArr=⇔ forall=∀ part=∂ exist=∃ empty=∅ nabla=∇ isin=∈ notin=∉ ni=∋ prod=∏ sum=∑ minus=− lowast=∗ radic=√ \
            prop=∝ infin=∞ ang=∠ and=∧ or=∨ cap=∩ cup=∪ int=∫ there4=∴ sim=∼ cong=≅ asymp=≈ ne=≠ equiv=≡ le=≤ ge=≥ \
            sub=⊂ sup=⊃ nsub=⊄ sube=⊆ supe=⊇ oplus=⊕ otimes=⊗ perp=⊥ sdot=⋅ lceil=⌈ rceil=⌉ lfloor=⌊ rfloor=⌋ lang=〈 \
            rang=〉 loz=◊ spades=♠ clubs=♣ hearts=♥ diams=♦ apos='
            """.split(separator: " ").map { pair in
                // By scalars: `=` and U+200D are one Character.
                let name = pair.unicodeScalars.prefix { $0 != "=" }
                return (Substring(name), String(pair.unicodeScalars.dropFirst(name.count + 1)))
            }
    )
}
