import Foundation

/// Files of this repository, for tests that hold documents against the code.
package enum Repository {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    package static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    package static func write(_ text: String, to path: String) throws {
        try text.write(to: root.appending(path: path), atomically: true, encoding: .utf8)
    }

    /// The files below a folder whose names end so.
    package static func files(below folder: String, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(suffix) }
    }

    package static func texts(below folder: String, suffix: String) throws -> [String] {
        try files(below: folder, suffix: suffix).map { try text("\(folder)/\($0)") }
    }

    /// The rows of a document's tables: the texts of their cells, without those of the heads.
    ///
    /// - Parameter section: the heading under which they stand, up to the next one of its level or a higher one.
    package static func rows(of path: String, section: String) throws -> [[String]] {
        let level = section.prefix { $0 == "#" }.count
        var isInside = false
        var rows: [[String]] = []
        var isHead = true
        for line in try text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#") {
                let isNext = line.prefix { $0 == "#" }.count <= level
                isInside = line == section || isInside && !isNext
            }
            guard isInside, line.hasPrefix("|") else {
                isHead = true
                continue
            }
            if line.hasPrefix("| --- ") {
                isHead = false
            } else if !isHead {
                rows.append(
                    line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                        .map { $0.trimmingCharacters(in: .whitespaces) }
                )
            }
        }
        return rows
    }
}
