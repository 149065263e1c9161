import Domain
import Foundation
import Testing
import TestKit

/// PyPI's `phonenumbers`, the port of libphonenumber, as the judge (`Tests/PhoneNumbers/judge.py`).
@Suite("Phone numbers")
struct PhoneNumberJudgeTests {
    private func judge(_ arguments: String...) async throws -> [Substring] {
        let run = try await Program.run(
            IdentityProgram.repository.appending(path: ".venv/bin/python").path,
            [IdentityProgram.repository.appending(path: "Tests/PhoneNumbers/judge.py").path] + arguments
        )
        try #require(run.status == 0, "\(run)")
        return run.output.split(separator: "\n")
    }

    @Test("T-E8: 10,000 numbers of all regions, with and without a national prefix, have libphonenumber's normal form")
    func normalForms() async throws {
        let seed = Int.random(in: 0..<1_000_000)
        let cases = try await judge("numbers", "10000", "\(seed)")
        #expect(cases.count == 10_000)
        for line in cases {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
            #expect(PhoneNumber(parts[0])?.text ?? "" == parts[1], "\(parts[0]), seed \(seed)")
        }
    }

    @Test("the table is libphonenumber's, of the version in scripts/requirements.txt")
    func table() async throws {
        let source = try Repository.text("Sources/Domain/NumberingPlan+Table.swift").split(separator: "\n")
        let known = source.drop { !$0.hasSuffix("#\"\"\"") }.dropFirst().prefix { !$0.hasSuffix("\"\"\"#") }
        #expect(try await judge("plans") == known.map { $0.dropFirst(8) })
    }

    @Test(
        "a number that an earlier release stored can still be read",
        arguments: [("+49015112345678", "+4915112345678"), ("+9991234567", "+9991234567"), ("+1234567", "+1234567")]
    )
    func stored(_ text: String, _ number: String) {
        #expect(PhoneNumber(stored: text)?.text == number)
    }
}
