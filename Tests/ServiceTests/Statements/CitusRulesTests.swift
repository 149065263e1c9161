import TestKit
import Testing

/// The rules against what Citus 13.2 said, by hand, of each statement of citus.tsv: a message, or how many shards it
/// asked; nothing if it took it to one machine.
@Suite("What Citus takes")
struct CitusRulesTests {
    private static func statements() throws -> [(refusal: String, text: String)] {
        try Repository.text("Tests/ServiceTests/Statements/citus.tsv").split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
            return (cells[0], cells[1])
        }
    }

    @Test("each statement that Citus refused breaks a rule, and none that it took")
    func rules() throws {
        for (refusal, text) in try Self.statements() {
            #expect(CitusRules.broken(by: text).isEmpty == refusal.isEmpty, "\(refusal): \(text)")
        }
    }

    @Test("no rule can be taken out: each alone refuses a statement", arguments: CitusRules.all.map(\.name))
    func needed(_ rule: String) throws {
        let refused = try Self.statements().filter { CitusRules.broken(by: $0.text) == [rule] }
        #expect(!refused.isEmpty && refused.allSatisfy { !$0.refusal.isEmpty })
    }
}
