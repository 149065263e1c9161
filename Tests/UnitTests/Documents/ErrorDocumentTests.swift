import TestKit
import Testing

@Suite("docs/reference/errors.md")
struct ErrorDocumentTests {
    private static let messages = [
        "Sources/Accounts/AccountsError.swift", "Sources/Accounts/SecondFactorError.swift",
        "Sources/Accounts/Passkeys/PasskeyRefusal.swift", "Sources/Federation/Service/FederationError.swift",
        "Sources/IdentityService/Wire/ErrorMapping.swift", "Sources/Domain/LinkDecision.swift",
    ]

    /// Codes with the statuses that they are answered with, as the sources have them.
    ///
    /// An error is made of a code (`WireError("CODE")`, in an initialiser `self.init("CODE")`), or of a status, its name
    /// and a code; the ``messages`` are texts: `"CODE"` and `"CODE : detail"`.
    private func codesOfSources() throws -> [String: Set<Int>] {
        let statuses = [
            "badRequest": 400, "unauthorized": 401, "forbidden": 403, "notFound": 404, "conflict": 409,
            "tooManyRequests": 429, "internalServerError": 500, "serviceUnavailable": 503,
        ]
        let domain = #/(?:WireError|self\.init)\(\s*"([A-Z][A-Z0-9_]+)"/#
        let status = #/status\(\s*\.(\w+),\s*"[A-Z_]+",\s*"([A-Z][A-Z0-9_]+)"/#
        let constant = #/\b([A-Z]+(?:_[A-Z0-9]+)+)(?:"| : )/#
        var codes: [String: Set<Int>] = [:]
        for text in try Repository.texts(below: "Sources/IdentityService", suffix: ".swift") {
            for match in text.matches(of: domain) { codes[String(match.1), default: []].insert(400) }
            for match in text.matches(of: status) {
                let number = try #require(statuses[String(match.1)], "the status \(match.1) is not known here")
                codes[String(match.2), default: []].insert(number)
            }
        }
        for file in Self.messages {
            for line in try Repository.text(file).split(separator: "\n") where !line.contains(".status(") {
                for match in line.matches(of: constant) { codes[String(match.1), default: []].insert(400) }
            }
        }
        return codes
    }

    @Test("has a row for every code, with its status, and none for another")
    func everyCodeHasARow() throws {
        var documented: [String: Set<Int>] = [:]
        for row in try Repository.rows(of: "docs/reference/errors.md", section: "# Errors") where row.count == 5 {
            let code = row[0].filter { $0 != "`" }
            #expect(documented[code] == nil, "\(code) has two rows")
            documented[code] = Set(row[1].split(separator: ", ").compactMap { Int($0) })
            #expect(!row[2].isEmpty && !row[3].isEmpty, "\(code): when it comes and what to do")
        }
        var codes = try codesOfSources()
        // Of every operation, with no code of an account.
        #expect(codes.removeValue(forKey: "INTERNAL_ERROR") == [500])
        #expect(codes.count > 60)
        for (code, statuses) in codes.sorted(by: { $0.key < $1.key }) {
            #expect(documented[code] == statuses, "\(code) in docs/reference/errors.md")
        }
        #expect(Set(documented.keys).subtracting(codes.keys).sorted() == [], "no code of the service")
    }
}
