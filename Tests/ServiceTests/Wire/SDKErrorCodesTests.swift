import Domain
import IdentityService
import Testing
import TestKit

/// `sdk-error-codes.tsv`: which of our error codes the sources of Google's SDKs name.
///
/// A code of a 400 may be unknown: SDKs make an internal error of it. In a 200 it may not: the SDK for Apple platforms
/// takes the response for a sign-in, and ends the app.
@Suite("What SDKs know of our error codes", .database, .testProvider)
struct SDKErrorCodesTests {
    /// Codes by SDK; the Admin SDKs, the last column, read no response of a sign-in.
    private struct Table {
        var codes: Set<String> = []
        var known: [String: Set<String>] = [:]
        var clients: [String] = []

        init() throws {
            let lines = try Repository.text("Tests/ServiceTests/Wire/sdk-error-codes.tsv").split(separator: "\n")
                .map { $0.split(separator: "\t").map { String($0) } }
            let names = try #require(lines.first).dropFirst()
            clients = Array(names.dropLast())
            for line in lines.dropFirst() {
                try #require(line.count == names.count + 1, "\(line)")
                codes.insert(line[0])
                for (name, mark) in zip(names, line.dropFirst()) where mark == "known" {
                    known[name, default: []].insert(line[0])
                }
            }
        }

        /// The client SDKs that do not know a code.
        func strangers(to code: String) -> [String] { clients.filter { known[$0]?.contains(code) != true } }
    }

    @Test("the table has every code of the reference")
    func isComplete() throws {
        let table = try Table()
        #expect(table.clients.count == 3 && table.known.count == 4)
        let rows = try Repository.rows(of: "docs/reference/errors.md", section: "# Errors").filter { $0.count == 5 }
        #expect(Set(rows.map { $0[0].filter { $0 != "`" } }) == table.codes)
    }

    @Test("the description allows only known codes in a 200; every response of the tests is checked against it")
    func described() throws {
        let table = try Table()
        let text = try Repository.text("openapi.yaml")
        let lists = text.matches(of: #/\berrorMessage:\s+enum: \[([A-Z_, ]+)\]/#)
        // The other one is of explainSignIn, which no SDK calls.
        #expect(lists.count == 1 && text.matches(of: #/\berrorMessage:/#).count == 2)
        let codes = lists.flatMap { $0.1.split(separator: ", ").map { String($0) } }
        #expect(!codes.isEmpty)
        for code in codes { #expect(table.strangers(to: code) == [], "\(code)") }
    }

    @Test("a refused link comes in a 200 if every client SDK knows its code", arguments: LinkDecision.Refusal.allCases)
    func refusedLink(_ refusal: LinkDecision.Refusal) async throws {
        let strangers = try Table().strangers(to: refusal.rawValue)
        try await LinkingWorld.run { world in
            var user = try await world.service.signUp("eve@example.com")
            var identity = world.person()
            switch refusal {
            case .identityLinkedToAnotherAccount: _ = try await world.acme(identity)
            case .providerAlreadyLinked:
                user = try await world.acme(world.person("first"))
                identity = world.person("second", email: nil)
            case .emailExists: _ = try await world.service.signUp("ada@example.com")
            }
            let reply = try await world.acme(identity, idToken: user.idToken, ["returnIdpCredential": true])
            if strangers.isEmpty {
                reply.expectLinkRefused(refusal.rawValue)
            } else {
                reply.expectRefused(refusal.rawValue)
            }
        }
    }
}
