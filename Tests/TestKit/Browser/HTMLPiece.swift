/// Tags and text of an HTML page, in order: enough for the pages of this project, far from a parser of HTML.
enum HTMLPiece {
    /// The name in lower case, `/form` for an end tag.
    case tag(String, [String: String])
    case text(String)

    static func all(in html: String) -> [HTMLPiece] {
        var pieces: [HTMLPiece] = []
        var rest = Substring(html)
        while let start = rest.firstIndex(of: "<") {
            let text = rest[..<start]
            if !text.isEmpty { pieces.append(.text(decode(text))) }
            rest = rest[rest.index(after: start)...]
            guard let tag = takeTag(&rest) else { break }
            pieces.append(tag)
            if case .tag(let name, _) = tag, name == "script" || name == "style",
                let end = rest.firstRange(of: "</\(name)")
            {
                rest = rest[end.lowerBound...]
            }
        }
        if !rest.isEmpty { pieces.append(.text(decode(rest))) }
        return pieces
    }

    /// Reads up to and with the `>` that ends the tag.
    private static func takeTag(_ rest: inout Substring) -> HTMLPiece? {
        let name = rest.prefix { !$0.isWhitespace && $0 != ">" }
        rest = rest[name.endIndex...]
        var attributes: [String: String] = [:]
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "/" }
            guard let first = rest.first else { return nil }
            if first == ">" {
                rest = rest.dropFirst()
                return .tag(name.lowercased(), attributes)
            }
            let key = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" }
            rest = rest[key.endIndex...]
            guard rest.first == "=" else {
                attributes[key.lowercased()] = ""
                if key.isEmpty { rest = rest.dropFirst() }
                continue
            }
            rest = rest.dropFirst()
            attributes[key.lowercased()] = takeValue(&rest)
        }
    }

    private static func takeValue(_ rest: inout Substring) -> String {
        let value: Substring
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest = rest.dropFirst()
            value = rest.prefix { $0 != quote }
            rest = rest[value.endIndex...].dropFirst()
        } else {
            value = rest.prefix { !$0.isWhitespace && $0 != ">" }
            rest = rest[value.endIndex...]
        }
        return decode(value)
    }

    private static func decode(_ text: Substring) -> String {
        var decoded = String(text)
        let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        for (entity, character) in entities { decoded = decoded.replacing(entity, with: character) }
        return decoded
    }
}
