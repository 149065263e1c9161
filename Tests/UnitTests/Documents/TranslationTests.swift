import TestKit
import Testing

@Suite("Documents in two languages")
struct TranslationTests {
    /// Each page in Japanese, except the index, with the English page that it translates.
    private static func pairs() throws -> [(english: String, japanese: String)] {
        let pages = try Repository.files(below: "docs/ja", suffix: ".md").filter { $0 != "README.md" }.sorted()
        return [("README.md", "README.ja.md")] + pages.map { ("docs/guide/\($0)", "docs/ja/\($0)") }
    }

    @Test("have the same levels of headings, code except for comments, and rows and columns of tables")
    func sameOutline() throws {
        let pairs = try Self.pairs()
        #expect(pairs.count >= 14)
        for (english, japanese) in pairs {
            let original = try MarkdownOutline(Repository.text(english))
            let translation = try MarkdownOutline(Repository.text(japanese))
            #expect(translation.levels == original.levels, "headings of \(japanese)")
            #expect(translation.code.count == original.code.count, "code blocks of \(japanese)")
            for (block, expected) in zip(translation.code, original.code) {
                #expect(block == expected, "\(japanese)")
            }
            #expect(translation.tables == original.tables, "tables of \(japanese)")
        }
    }

    @Test("link to each other")
    func linkToEachOther() throws {
        for (english, japanese) in try Self.pairs() {
            for (from, to) in [(english, japanese), (japanese, english)] {
                let links = try MarkdownOutline(Repository.text(from)).links
                #expect(links.contains { Self.target(of: $0, in: from) == to }, "\(from) does not link to \(to)")
            }
        }
    }

    @Test("have no link to a missing file or heading")
    func linkTargets() throws {
        let pages = try Repository.files(below: "docs", suffix: ".md").map { "docs/\($0)" }
        var count = 0
        for page in pages + ["README.md", "README.ja.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
            for link in try MarkdownOutline(Repository.text(page)).links where !link.contains("://") {
                count += 1
                let target = Self.target(of: link, in: page)
                guard Repository.exists(target) else {
                    Issue.record("\(page): \(link) does not exist")
                    continue
                }
                guard target.hasSuffix(".md"), let hash = link.firstIndex(of: "#") else { continue }
                let anchor = String(link[link.index(after: hash)...])
                let anchors = try MarkdownOutline(Repository.text(target)).anchors
                #expect(anchors.contains(anchor), "\(page): \(link) has no such heading")
            }
        }
        #expect(count > 200)
    }

    /// The file to which a link leads, from the root of the repository.
    private static func target(of link: String, in page: String) -> String {
        let path = link.prefix { $0 != "#" }
        guard !path.isEmpty else { return page }
        var folders = page.split(separator: "/").dropLast()
        for part in path.split(separator: "/") {
            if part == ".." { _ = folders.popLast() } else { folders.append(part) }
        }
        return folders.joined(separator: "/")
    }
}
