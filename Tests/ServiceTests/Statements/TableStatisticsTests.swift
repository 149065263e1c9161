import Domain
import Foundation
import Logging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("The planner's statistics", .serialized)
struct TableStatisticsTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func statistics(of stores: Stores, as role: String? = nil) -> TableStatistics {
        let conninfo = TestDatabase.current.conninfo + (role.map { " options='-c role=\($0)'" } ?? "")
        return TableStatistics(of: stores, logger: logger) {
            PostgresClient(.init(conninfo: conninfo, connections: 1), logger: logger)
        }
    }

    private static func stores(_ conninfo: String) throws -> Stores {
        Stores(
            database: PostgresClient(quietly: .patient(conninfo, connections: 1)),
            keyRing: try KeyRing(keys: TestService.encryptionKeys.get()),
            logger: logger,
            now: { Date() }
        )
    }

    private static func importAccounts(_ numbers: Range<Int>, _ stores: Stores) async throws {
        let project = try #require(ProjectID(rawValue: "some-project"))
        let accounts = numbers.map { number in
            var account = Account(id: AccountID("account\(number)"), validSince: 0, createdAt: Date())
            account.email = EmailAddress("\(number)@example.com")
            account.linked = [LinkedCredential(provider: "google.com", subject: "\(number)")]
            return ImportedAccount(account: account, password: nil)
        }
        let imported = try await stores.accounts.importAccounts(
            accounts,
            replaces: false,
            in: Scope(project: project),
            now: Date()
        )
        #expect(imported.conflicts.isEmpty)
    }

    @Test("are renewed once for tables that an import has filled, and connections plan anew", .database)
    func grown() async throws {
        let stores = try Self.stores(TestDatabase.current.conninfo)
        let statistics = Self.statistics(of: stores)
        _ = try await statistics.renew()
        let connection = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        let list: SQL = "SELECT account FROM accounts WHERE project = \("some-project") AND version > 0"
        _ = try await connection.query(list) { try $0.next(String.self) }
        let names = try await connection.query(
            "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%version > 0'"
        ) { try $0.next(String.self) }
        let name = try #require(names.first)
        func expected() async throws -> Int {
            let plan = try await connection.query("EXPLAIN EXECUTE \(identifier: name) (NULL)") {
                try $0.next(String.self)
            }
            return try #require(plan.first?.firstMatch(of: /rows=([0-9]+)/).flatMap { Int($0.1) })
        }
        #expect(try await expected() < 100)
        var signals = stores.growth.signals.makeAsyncIterator()
        try await Self.importAccounts(0..<1000, stores)
        await signals.next()
        #expect(try await expected() < 100)
        let renewed = try await statistics.renew()
        #expect(Set(["accounts", "account_emails", "credential_subjects", "linked_credentials"]).isSubset(of: renewed))
        #expect(try await expected() > 100)
        #expect(try await statistics.renew() == [])
        // Not for each further batch: half as many again change no plan.
        try await Self.importAccounts(1000..<1500, stores)
        #expect(try await statistics.renew() == [])
        await connection.close()
        await stores.database.close()
    }

    @Test("a node whose role owns no table renews them by the owner's connection, and cannot without it", .database)
    func roles() async throws {
        try await TestDatabase.withServiceRole(TestDatabase.current.client) { role in
            let stores = try Self.stores(TestDatabase.current.conninfo + " options='-c role=\(role)'")
            try await Self.importAccounts(0..<1000, stores)
            let alone = Self.statistics(of: stores, as: role)
            #expect(try await !alone.isPossible())
            #expect(try await alone.renew() == [])
            let owner = Self.statistics(of: stores)
            #expect(try await owner.isPossible())
            #expect(try await owner.renew().contains("accounts"))
            await stores.database.close()
        }
    }

    @Test("two nodes do not analyze a table at the same time", .database)
    func together() async throws {
        let stores = try Self.stores(TestDatabase.current.conninfo)
        try await Self.importAccounts(0..<1000, stores)
        let statistics = Self.statistics(of: stores)
        // What ANALYZE on another node locks.
        try await TestDatabase.current.client.transaction { other in
            try await other.execute("LOCK TABLE accounts IN SHARE UPDATE EXCLUSIVE MODE")
            #expect(try await statistics.renew().contains("accounts"))
            let known = try await other.query("SELECT reltuples::int8 FROM pg_class WHERE oid = 'accounts'::regclass") {
                try $0.next(Int64.self)
            }
            #expect(known.allSatisfy { $0 < 1000 }, "it was skipped")
        }
        await stores.database.close()
    }
}
