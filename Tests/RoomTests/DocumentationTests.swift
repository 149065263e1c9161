import Foundation
import Testing

@Suite("Documents")
struct DocumentationTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func files(below folder: String, suffix: String) throws -> [String] {
        let base = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(suffix) }
        return try names.map { try String(contentsOf: base.appending(path: $0), encoding: .utf8) }
    }

    @Test("name no requirement and no threat without a test whose display name carries the id")
    func everyIDHasATest() throws {
        let documents = try ["requirements.md", "threats.md"].map {
            try String(contentsOf: root.appending(path: "docs/\($0)"), encoding: .utf8)
        }
        let documented = Set(
            documents.flatMap { $0.matches(of: #/(?m)^\| (R-[0-9]{2}|T-[A-E][0-9]+) /#).map { String($0.1) } }
        )
        let displayName = #/@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/#
        let names = try files(below: "Tests", suffix: ".swift").flatMap { $0.matches(of: displayName).map(\.1) }
        let tested = Set(names.flatMap { $0.matches(of: #/R-[0-9]{2}|T-[A-E][0-9]+/#).map { String($0.0) } })
        #expect(documented.count > 20)
        #expect(documented.subtracting(tested).sorted() == [])
    }

    @Test("only the dev command and the tests know the module of development")
    func developmentStaysOutOfProduction() throws {
        let folders = ["Sources/IdentityCLI", "Sources/IdentityService", "Sources/Accounts", "Sources/Storage"]
        let importing = try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                .filter { $0.hasSuffix(".swift") }
                .filter { name in
                    try String(contentsOf: root.appending(path: "\(folder)/\(name)"), encoding: .utf8)
                        .contains(#/(?m)^(package |public )?import Development\b/#)
                }
        }
        #expect(importing == ["Commands/Dev.swift"])
    }
}
