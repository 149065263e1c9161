import TestKit
import Testing

@Suite("Documents")
struct DocumentationTests {
    @Test("name no requirement and no threat without a test whose display name carries the id")
    func everyIDHasATest() throws {
        let documents = try ["requirements.md", "threats.md"].map { try Repository.text("docs/maintainers/\($0)") }
        let documented = Set(
            documents.flatMap { $0.matches(of: #/(?m)^\| (R-[0-9]{2}|T-[A-F][0-9]+) /#).map { String($0.1) } }
        )
        let displayName = #/@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/#
        let names = try Repository.texts(below: "Tests", suffix: ".swift").flatMap {
            $0.matches(of: displayName).map(\.1)
        }
        let tested = Set(names.flatMap { $0.matches(of: #/R-[0-9]{2}|T-[A-F][0-9]+/#).map { String($0.0) } })
        #expect(documented.count > 20)
        #expect(documented.subtracting(tested).sorted() == [])
    }

    @Test("T-D11: only the dev command and the tests know the module of development")
    func developmentStaysOutOfProduction() throws {
        let folders = ["Sources/IdentityCLI", "Sources/IdentityService", "Sources/Accounts", "Sources/Storage"]
        let importing = try folders.flatMap { folder in
            try Repository.files(below: folder, suffix: ".swift").filter { name in
                try Repository.text("\(folder)/\(name)").contains(#/(?m)^[^\/\n]*\bimport (\w+ )?Development\b/#)
            }
        }
        #expect(importing == ["Commands/Dev.swift"])
    }

    @Test("no source awaits inside of a tuple or an enum's payload, which optimised task groups get wrong")
    func noAwaitInsideOfValues() throws {
        let shape = #/(?:return \(|\.(?:success|failure|some)\()[^\n]*\bawait\b/#
        let found = try Repository.files(below: "Sources", suffix: ".swift").flatMap { name in
            try Repository.text("Sources/\(name)").matches(of: shape).map { "\(name): \($0.0)" }
        }
        #expect(found == [])
    }
}
