/// Languages by their tags (BCP 47).
package enum LanguageTag {
    /// Such as `de` or `pt-BR`; with `_` as Android writes them, too.
    package static func isValid(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z]{2,8}([\-_][A-Za-z0-9]{1,8}){0,4}/) != nil
    }

    /// Tags in lowercase with hyphens, so that those of one language are equal.
    package static func normal(_ tag: String) -> String {
        String(tag.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// The language alone: `de` of `de-AT`.
    package static func language(_ tag: String) -> String { String(normal(tag).prefix { $0 != "-" }) }

    /// What to look for, the most exact tag first (RFC 4647 §3.4): `zh-hant-tw`, `zh-hant`, `zh`.
    package static func lookup(_ tag: String) -> [String] {
        let parts = normal(tag).split(separator: "-", omittingEmptySubsequences: false)
        return (1...parts.count).reversed().filter { parts[$0 - 1].count > 1 }.map {
            parts.prefix($0).joined(separator: "-")
        }
    }

    /// The first text there is for languages, each exactly and then less so; by tags as an admin spelled them.
    package static func find<Text>(_ texts: [String: Text], for tags: String?...) -> (tag: String, text: Text)? {
        for tag in tags.compactMap({ $0 }).flatMap(lookup) {
            if let found = texts.first(where: { normal($0.key) == tag }) { return (found.key, found.value) }
        }
        return nil
    }
}
