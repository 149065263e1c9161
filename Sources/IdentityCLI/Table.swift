import Foundation

/// Rows with a header, as aligned columns or as JSON.
///
/// Two spaces are between columns, and no text contains them (threats.md, T-E18).
struct Table: CustomStringConvertible {
    let header: [String]
    let rows: [[String]]

    init(_ header: [String], _ rows: [[String]]) {
        self.header = header
        self.rows = rows
    }

    var description: String {
        let all = ([header] + rows).map { $0.map { $0.onOneLine(spaces: 1) } }
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.enumerated().map { column, text in
                column == row.count - 1 ? text : text.padding(toLength: widths[column], withPad: " ", startingAt: 0)
            }
            .joined(separator: "  ")
        }
        .joined(separator: "\n")
    }

    /// An array of objects; the keys are the header in camel case.
    private var json: String {
        let keys = header.map { title in
            let words = title.lowercased().split(separator: " ")
            return words.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
        }
        let objects = rows.map { Dictionary(zip(keys, $0)) { first, _ in first } }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(objects)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    func text(json wantsJSON: Bool) -> String { wantsJSON ? json : description }
}
