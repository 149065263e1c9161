/// A language of our pages, by its tag (BCP 47); each has its own file (`PageTexts`).
package enum PageLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case japanese = "ja"

    /// `dir` of HTML.
    var direction: String { "ltr" }

    package func text(_ key: PageText) -> String {
        switch self {
        case .english: key.english
        case .german: key.german
        case .japanese: key.japanese
        }
    }

    /// The language of a tag, ignoring its further parts: `de-AT` is German (RFC 4647 §3.4).
    private init?(tag: some StringProtocol) {
        self.init(rawValue: tag.prefix { $0 != "-" && $0 != "_" }.lowercased())
    }

    /// The requested language, otherwise the one of ours that the browser prefers, otherwise English.
    ///
    /// - Parameters:
    ///   - wanted: `lang` of a link.
    ///   - header: `Accept-Language` (RFC 9110 §12.5.4).
    package static func best(_ wanted: String?, accepting header: String?) -> PageLanguage {
        if let language = wanted.flatMap({ PageLanguage(tag: $0) }) { return language }
        var best: (language: PageLanguage, weight: Double)?
        for part in (header ?? "").prefix(1024).split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = pieces.first, let language = PageLanguage(tag: tag) else { continue }
            let weight = pieces.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map {
                Double($0.dropFirst(2)) ?? 0
            }
            // Of equal weights, the first.
            if (weight ?? 1) > (best?.weight ?? 0) { best = (language, weight ?? 1) }
        }
        return best?.language ?? .english
    }
}
