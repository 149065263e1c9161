import Foundation
import Testing

@Suite("Statements: ready for a distributed PostgreSQL")
struct StatementsTests {
    /// What nodes that share only the database can't rely on, or what hides a rule or an error.
    private static let forbidden: [(name: String, pattern: String)] = [
        ("LISTEN and NOTIFY", #"\b(un)?listen\s+["a-z_]|\bnotify\s+["a-z_]|\bpg_notify\b"#),
        ("advisory locks", #"\bpg_(try_)?advisory"#),
        ("temporary tables", #"\bcreate\s+((global|local)\s+)?temp(orary)?\b|\bpg_temp\b"#),
        ("serials and sequences", #"\b(small|big)?serial[248]?\b|\b(create|alter)\s+sequence\b|\bnextval\s*\("#),
        ("identity columns", #"\bgenerated\s+(always|by\s+default)\s+as\s+identity\b"#),
        ("triggers", #"\bcreate\s+(or\s+replace\s+)?(constraint\s+)?(event\s+)?trigger\b"#),
        ("functions and procedures", #"\bcreate\s+(or\s+replace\s+)?(function|procedure)\b|\bdo\s+\$"#),
        ("rules", #"\bcreate\s+(or\s+replace\s+)?rule\b"#),
        ("ON CONFLICT DO NOTHING", #"\bon\s+conflict\b[^;]{0,200}?\bdo\s+nothing\b"#),
        ("locks on tables", #"\block\s+table\b"#),
        ("cursors that outlive", #"\bwith\s+hold\b"#),
        ("session settings", #"\bset\s+session\b|\bset_config\s*\([^;)]*,\s*false\s*\)"#),
    ]

    /// Partitions are PostgreSQL's own: where there are none, entries of the audit log stay in the rest.
    private static let exceptions: [String: Set<String>] = ["AuditLogPartitions.swift": ["locks on tables"]]

    private static func violations(in text: String) throws -> [String] {
        // Comments may name what statements may not.
        let code = text.replacing(try Regex(#"(?m)^\s*//.*$"#), with: "")
        return try forbidden.filter { code.contains(try Regex($0.pattern).ignoresCase()) }.map(\.name)
    }

    @Test("No statement or migration uses what a distributed PostgreSQL lacks")
    func everyStatementIsPortable() throws {
        // Tests/RoomTests/Migrations/StatementsTests.swift
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        var read = 0
        for folder in ["Sources/Storage", "Sources/Migrations"] {
            let files = try #require(
                FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            )
            for case let file as URL in files where file.pathExtension == "swift" {
                let allowed = Self.exceptions[file.lastPathComponent] ?? []
                let violations = try Self.violations(in: String(contentsOf: file, encoding: .utf8))
                    .filter { !allowed.contains($0) }
                #expect(violations.isEmpty, "\(file.lastPathComponent): \(violations.joined(separator: ", "))")
                read += 1
            }
        }
        #expect(read > 3)
    }

    @Test(arguments: [
        "LISTEN events", "notify events, 'x'", "SELECT pg_notify('a', 'b')", "SELECT pg_advisory_xact_lock(1)",
        "SELECT pg_try_advisory_lock(1)", "CREATE TEMP TABLE t (a INT)", "CREATE TEMPORARY TABLE t (a INT)",
        "CREATE TABLE t (a BIGSERIAL)", "CREATE TABLE t (a serial)", "create sequence s", "SELECT nextval('s')",
        "a BIGINT GENERATED ALWAYS AS IDENTITY", "CREATE TRIGGER t BEFORE INSERT", "CREATE OR REPLACE FUNCTION f()",
        "create procedure p()", "DO $$ BEGIN END $$", "CREATE RULE r AS",
        "INSERT INTO a VALUES (1)\n    ON CONFLICT (k)\n    DO NOTHING",
        "insert into a values (1) on conflict do nothing",
        "LOCK TABLE a", "SET SESSION x = 1",
    ])
    func eachForbiddenConstructIsSeen(_ text: String) throws {
        #expect(try !Self.violations(in: text).isEmpty)
    }

    @Test(arguments: [
        "SELECT a FROM b WHERE c = 'serialized' FOR UPDATE SKIP LOCKED", "INSERT INTO a VALUES (1)",
        "INSERT INTO a VALUES (1) ON CONFLICT (k) DO UPDATE SET v = 1", "// LISTEN to nobody",
        "func notify(_ listener: Listener) {}", "CREATE UNIQUE INDEX i ON a (template)",
    ])
    func whatIsAllowedPasses(_ text: String) throws {
        #expect(try Self.violations(in: text).isEmpty)
    }
}
