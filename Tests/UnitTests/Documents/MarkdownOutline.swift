import Foundation

/// What a translated document shares with its original.
struct MarkdownOutline {
    private(set) var levels: [Int] = []
    private(set) var headings: [String] = []
    /// Each block's language and its lines, without comments, indentation and empty lines.
    private(set) var code: [[String]] = []
    /// The number of cells in each row of each table.
    private(set) var tables: [[Int]] = []
    /// The targets of links outside of code.
    private(set) var links: [String] = []

    init(_ text: String) {
        var block: [String]?
        var isTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed.hasPrefix("```") {
                if let lines = block {
                    code.append(lines)
                    block = nil
                } else {
                    block = [String(trimmed.dropFirst(3))]
                }
                isTable = false
            } else if block != nil {
                let statement = Self.withoutComment(trimmed)
                if !statement.isEmpty { block?.append(statement) }
            } else {
                readProse(line, continuesTable: isTable)
                isTable = line.hasPrefix("|")
            }
        }
    }

    private mutating func readProse(_ line: Substring, continuesTable: Bool) {
        let level = line.prefix { $0 == "#" }.count
        if level > 0, line.dropFirst(level).first == " " {
            levels.append(level)
            headings.append(String(line.dropFirst(level + 1)))
        }
        if line.hasPrefix("|") {
            if !continuesTable { tables.append([]) }
            tables[tables.count - 1].append(line.filter { $0 == "|" }.count - 1)
        }
        links += line.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.1) }
    }

    /// A line of code without a comment that starts with `#` or `//` and a space.
    private static func withoutComment(_ line: String) -> String {
        line.replacing(#/(?:^|\s+)(?:#|//)\s.*/#, with: "")
    }

    /// The anchors of the headings, as GitHub makes them.
    var anchors: Set<String> {
        Set(
            headings.map { heading in
                heading.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                    .replacing(" ", with: "-")
            }
        )
    }
}
