import TestKit
import Testing

@Suite("docs/reference/configuration.md, of a node")
struct ConfigurationDocumentTests {
    @Test("has a row for every key that a node reads, and none for another")
    func everyKeyHasARow() throws {
        let read = #/(?:forKey: |integer\(\s*|flag\(|list\(|text\()"([a-z]+\.[a-zA-Z.]+)"/#
        var keys: Set<String> = []
        for text in try Repository.texts(below: "Sources/IdentityCLI", suffix: "Configuration.swift") {
            keys.formUnion(text.matches(of: read).map { String($0.1) })
        }
        #expect(keys.count >= 20)
        var documented: Set<String> = []
        for row in try Repository.rows(of: "docs/reference/configuration.md", section: "## A node") {
            let names = row[0].split(separator: ", ").map { $0.filter { $0 != "`" } }
            for name in names { #expect(documented.insert(name).inserted, "\(name) has two rows") }
            let says = ["default", "required", "none by default"].contains { row[1].contains($0) }
            #expect(says, "\(names): what happens without it")
        }
        #expect(documented.symmetricDifference(keys).sorted() == [])
    }
}
