import Administration
import Projects
import TestKit
import Testing

@Suite("docs/reference/configuration.md, of a project", .database)
struct SettingsDocumentTests {
    private struct Row {
        var path: String
        /// What it may be: `` `OFF` or `ENFORCE` ``, `0…60`, `a line, 128 characters at most`.
        var type: String
        /// The default, and the one in `dev`.
        var defaults: [String]
    }

    /// One for each member; `{template}` stands for each template, `{limit}` for each limit.
    private func rows() throws -> [Row] {
        try Repository.rows(of: "docs/reference/configuration.md", section: "## A project").flatMap { cells -> [Row] in
            // Tables of smaller headings have fewer columns.
            guard cells.count == 5 else { return [] }
            let path = cells[0].filter { $0 != "`" }
            var paths = [path]
            if path.contains("{template}") {
                paths = MailSettings.templates.map { path.replacing("{template}", with: $0) }
            } else if path.contains("{limit}") {
                paths = RateLimitKind.ofProjects.map { path.replacing("{limit}", with: $0.rawValue) }
            }
            return paths.map { Row(path: $0, type: cells[1], defaults: [cells[2], cells[3]]) }
        }
    }

    private func nested(_ path: String, _ value: JSON) -> JSON {
        path.split(separator: ".").reversed().reduce(value) { [String($1): $0] }
    }

    @Test("has a row for every member, and none for another")
    func everyMemberHasARow() throws {
        let documented = try rows().map(\.path)
        #expect(Set(documented).count == documented.count)
        #expect(Set(documented).symmetricDifference(Setting.all.map(\.path)).sorted() == [])
    }

    @Test("says what a member is without anybody's doing, also in dev", arguments: [0, 1])
    func saysDefaults(_ mode: Int) async throws {
        var options = TestService.Options()
        options.settings = [ProjectSettings(), .development][mode]
        options.limitsRates = true
        // Shown, although nobody set them.
        options.settings.given = Setting.all.map(\.path)
        try await TestService.run(options) { service in
            let config = try await service.admin("config", version: "v2").json
            for row in try rows() {
                // Shown with a body alone.
                if row.path.hasSuffix(".bodyFormat") || row.defaults[mode] == "see below" { continue }
                let value = row.path.split(separator: ".").reduce(config as JSON?) { $0?[String($1)] }
                let documented = row.defaults[mode].filter { $0 != "`" }
                #expect((documented == "false" ? "none" : documented) == text(value), "\(row.path)")
            }
        }
    }

    private func text(_ value: JSON?) -> String {
        switch value {
        case .bool(let flag)?: flag ? "true" : "none"
        case .string(let text)?: text
        case .array(let elements)?:
            elements.map { element in
                let options = element["customStrengthOptions"]?.object?.filter { $0.value != false } ?? [:]
                guard options.count == 2, let shortest = options["minPasswordLength"]?.number,
                    let longest = options["maxPasswordLength"]?.number
                else { return element.string ?? element.text }
                return "\(Int(shortest)) to \(Int(longest)) characters of any kind"
            }.joined(separator: ", ")
        case nil: "none"
        case let value?: value.text
        }
    }

    @Test("says how often each thing may happen")
    func saysLimits() throws {
        let units = ["an hour": 3_600, "half an hour": 1_800, "a day": 86_400]
        var documented: [String: RateLimitBudget] = [:]
        for row in try Repository.rows(of: "docs/reference/configuration.md", section: "### Limits") {
            let words = try #require(row[1].wholeMatch(of: #/([0-9,]+) in ([a-z ]+)/#))
            documented[row[0].filter { $0 != "`" }] = RateLimitBudget(
                count: try #require(Int(words.1.filter { $0 != "," })),
                seconds: try #require(units[String(words.2)])
            )
        }
        let kinds = RateLimitKind.ofProjects.map { ($0.rawValue, $0.standard) }
        #expect(documented == Dictionary(uniqueKeysWithValues: kinds))
    }

    @Test("says which values a member may have")
    func saysBounds() async throws {
        var options = TestService.Options()
        // So wide that every number of a project narrows them.
        var widest = RateLimitSettings()
        for kind in DeploymentLimits.kinds { widest[kind] = RateLimitBudget(count: 1_000_000, seconds: 1) }
        options.deploymentLimits = DeploymentLimits(widest)
        try await TestService.run(options) { service in
            var checked = 0
            for row in try rows() {
                guard let (good, bad) = values(row.type) else { continue }
                checked += 1
                for (values, status) in [(good, 200), (bad, 400)] {
                    for value in values {
                        let reply = try await service.admin(
                            "config?updateMask=\(row.path)",
                            nested(row.path, value),
                            method: "PATCH",
                            version: "v2"
                        )
                        #expect(reply.status == status, "\(row.path) = \(value.text.prefix(80))")
                    }
                }
            }
            #expect(checked > 20)
        }
    }

    /// Values that a type of the document allows, and values that it does not; nil for a type in words.
    private func values(_ type: String) -> (good: [JSON], bad: [JSON])? {
        if let range = type.wholeMatch(of: #/(\d+)…(\d+)/#), let low = Int(range.1), let high = Int(range.2) {
            return (
                [.string("\(low)"), JSON(integerLiteral: high)],
                [JSON(integerLiteral: low - 1), .string("\(high + 1)")]
            )
        }
        if let line = type.wholeMatch(of: #/a line, (\d+) characters at most/#), let limit = Int(line.1) {
            let longest = String(repeating: "é", count: limit)
            return ([.string(longest)], [.string(longest + "é"), "a\nb", 1])
        }
        if type == "`#rrggbb`" { return (["#1a2b3c", "#ABCDEF", ""], ["#abc", "1a2b3c", "red", 1]) }
        let names = type.matches(of: #/`([A-Za-z0-9_]+)`/#).map { String($0.1) }
        guard names.count > 1 else { return nil }
        if names == ["true", "false"] { return ([true, false], ["true", 1]) }
        return (names.map { .string($0) }, ["other", .number(Double(names.count)), true])
    }
}
