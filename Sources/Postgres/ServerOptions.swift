/// The `options` of a connection string, as the server's command line reads them (PostgreSQL, chapter 34.1.2).
struct ServerOptions {
    /// Those of `-c name=value` and `--name=value`.
    let settings: [(name: String, value: String)]
    /// The text itself if it has anything else, which only a new session can take; then `settings` is empty.
    let others: String?

    init(_ text: String) {
        var words = Self.words(of: text)[...]
        var settings: [(String, String)] = []
        while let word = words.popFirst() {
            var setting: String?
            if word == "-c" {
                setting = words.popFirst()
            } else if word.hasPrefix("-c") || word.hasPrefix("--") {
                setting = String(word.dropFirst(2))
            }
            guard let setting, let sign = setting.firstIndex(of: "="), sign > setting.startIndex else {
                (self.settings, others) = ([], text)
                return
            }
            // As the server does.
            let name = String(setting[..<sign]).replacing("-", with: "_")
            settings.append((name, String(setting[setting.index(after: sign)...])))
        }
        (self.settings, others) = (settings, nil)
    }

    /// Separated by spaces, unless a backslash precedes them.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isEscaped = false
        for character in text {
            if !isEscaped, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else if !isEscaped, character == "\\" {
                isEscaped = true
                continue
            } else {
                word = (word ?? "") + String(character)
            }
            isEscaped = false
        }
        return words + (word.map { [$0] } ?? [])
    }
}
