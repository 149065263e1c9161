import Foundation
import Postgres
import Projects
import Storage
import StrictJSON
import TestKit
import Testing

/// Compares statements.tsv and `x-cost` in openapi.yaml with what the service asks its database.
///
/// `WRITE_STATEMENTS=FOLDER scripts/test --filter OperationStatementsTests` writes the SQL of each operation to a file of the
/// folder, to read, and to compare with `diff -r` after a change.
@Suite("Statements of operations", .database, .testProvider, .serialized)
struct OperationStatementsTests {
    /// How often an operation asks the database in some case.
    struct Row: Sendable, Hashable {
        /// The name in openapi.yaml, and the case: `signUp`, `signUp, a guest`.
        var name: String
        /// Waits for the database: what a transaction writes goes with the next statement that has a result, or with COMMIT.
        var roundTrips: Int
        var statements: Int

        var operation: String { String(name.prefix { $0 != "," }) }
    }

    /// The rows of the file, whose first line names the columns, and of openapi.yaml.
    static func table() throws -> [Row] {
        let text = try Repository.text("Tests/ServiceTests/Statements/statements.tsv")
        let examples = OperationCase.documented.map { example in
            Row(
                name: example.name,
                roundTrips: example.cost?.roundTrips ?? 0,
                statements: example.cost?.statements ?? 0
            )
        }
        return try examples
            + text.split(separator: "\n").dropFirst().map { line in
                let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
                return Row(
                    name: String(cells[0]),
                    roundTrips: try #require(Int(cells[1])),
                    statements: try #require(Int(cells[2]))
                )
            }
    }

    @Test("every operation is in the table, with each of its cases once")
    func isComplete() throws {
        let table = try Self.table()
        let cases = OperationCase.all.map(\.name)
        #expect(Set(table.map(\.name)) == Set(cases), "cases without a row, or rows without a case")
        #expect(Set(cases).count == cases.count && table.count == cases.count)
        let described = Set(try OpenAPIDocument.ofRepository().productionNames)
        #expect(described == Set(table.map(\.operation)))
    }

    /// What changes nothing and is recorded all the same: an admin gets a secret of users, or all their data as a file.
    private static let handingOutSecrets: Set<String> = [
        "adminBatchGet", "downloadAccount", "createSessionCookie", "createTenantSessionCookie", "adminProviderToken",
        "exportConsoleAccounts", "accessToken, of a workload",
    ]

    /// How often an operation asks by the client that watches the database.
    private static let watching = ["readyz": 1, "consoleOperations": 2]

    @Test(
        "none asks the database more often than the table says; what changes something leaves an entry in the audit log",
        arguments: OperationCase.all
    )
    func counts(_ example: OperationCase) async throws {
        let row = try #require(try Self.table().first { $0.name == example.name })
        var options = LinkingWorld.options(example.settings)
        // A look of the node itself would count as the operation's.
        options.watchesConfiguration = false
        try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let request = try await example.prepare(world)
            // It is no part of an operation that its node reads new configuration.
            try await world.service.stores.configuration.refresh()
            let database = world.service.stores.database
            var waits = database.load.roundTrips
            let (reload, _) = try await StatementCount.during {
                try await world.service.stores.configuration.load()
            }
            let reloadWaits = database.load.roundTrips - waits
            let (before, entries) = (try await AuditedState.read(), try await AuditedState.entries())
            waits = database.load.roundTrips
            let (count, reply) = try await StatementCount.during(request)
            #expect((200..<400).contains(reply.status), "\(reply)")
            let asked = count.without(reload)
            let reloads = (count.total - asked.total) / reload.total
            let roundTrips =
                database.load.roundTrips - waits - reloads * reloadWaits + Self.watching[example.name, default: 0]
            #expect(roundTrips == row.roundTrips, "\(asked)")
            #expect(asked.total == row.statements, "\(asked)")
            if let folder = ProcessInfo.processInfo.environment["WRITE_STATEMENTS"] {
                let file = URL(filePath: folder).appending(path: "\(example.name.replacing("/", with: " ")).sql")
                let text = asked.statements.map { "-- \($0.calls) ×\n\($0.text);\n" }.joined(separator: "\n")
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
            let isChanged = try await AuditedState.read() != before
            let isRecorded = isChanged || Self.handingOutSecrets.contains(example.name)
            #expect(try await (AuditedState.entries() > entries) == isRecorded, "changed: \(isChanged)")
            if asked.statements.contains(where: { !Self.isPortable($0.text) }) {
                try await requirePortable(example)
            }
        }
    }

    /// What is PostgreSQL's own (docs/maintainers/scale.md).
    ///
    /// `SKIP LOCKED` counts where it decides: what passes a row over may come to another result.
    private static let bindingToPostgreSQL = ["ctid", "xmin", "xmax", "UNLOGGED", "PARTITION OF", "pg_", "SKIP LOCKED"]

    /// Ends sessions of an account that has too many, or notes a session's use: one that is passed over has its turn with
    /// the next sign-in or use.
    private static let undecidedSkip = "FOR NO KEY UPDATE OF l SKIP LOCKED"

    private static func bindsToPostgreSQL(_ statement: String) -> Bool {
        let text = statement.replacing(undecidedSkip, with: "")
        return bindingToPostgreSQL.contains { text.contains($0) }
    }

    private static func isPortable(_ statement: String) -> Bool {
        !bindsToPostgreSQL(statement) && CitusRules.broken(by: statement).isEmpty
    }

    /// Without batches, no operation asks for what only PostgreSQL has, or what Citus refuses.
    private func requirePortable(_ example: OperationCase) async throws {
        var options = LinkingWorld.options(example.settings)
        options.batches = false
        try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let request = try await example.prepare(world)
            let (count, reply) = try await StatementCount.during(request)
            #expect((200..<400).contains(reply.status), "\(reply)")
            for statement in count.statements where !Self.isPortable(statement.text) {
                Issue.record("\(CitusRules.broken(by: statement.text)): \(statement.text)")
            }
        }
    }
}

extension OpenAPIDocument {
    /// The names of the operations of `identity serve`, but for the metrics, which have an address of their own.
    fileprivate var productionNames: [String] {
        operations.compactMap { operation in
            let description = description(of: operation)
            let isDevelopment = description?["tags"]?.elements.contains { $0.text == "development" } ?? false
            let succeeds = description?["responses"]?.members.contains { ("200"..<"400").contains($0.name) } ?? false
            return !succeeds || isDevelopment || operation.path == "/metrics" ? nil : description?["operationId"]?.text
        }
    }
}
