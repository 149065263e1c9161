import Foundation
import Logging
import Postgres
import Storage
import TestKit
import Testing

/// The generic plans of the statements that delete what expired, once a minute.
@Suite("Plans of the sweeper", .database)
struct SweepPlanTests {
    @Test("reach what expired by an index, and read no large table for it")
    func plans() async throws {
        // Beside other tests, so many rows take a while.
        let database = PostgresClient(
            quietly: .init(conninfo: TestDatabase.current.conninfo, connections: 1, statementTimeout: nil)
        )
        // A generic plan expects a third of the rows. Only of a large table, a thousand of those seem quick to find anywhere.
        try await database.execute(
            """
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
                last_used_at)
            SELECT 'large', n, n, '', '', 0, 'google.com', now(), now() FROM generate_series(1, 400000) n
            """
        )
        try await database.execute(
            """
            INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, created_at)
            SELECT 'large', n, '', '{google.com}', 0, n || '@example.com', n || '@example.com', now()
            FROM generate_series(1, 20000) n
            """
        )
        try await database.execute("ANALYZE")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        #expect(try await Sweeper(database: database, logger: logger) { Date() }.sweep() == 0)
        let statements = try await database.query(
            """
            SELECT name, cardinality(parameter_types) FROM pg_prepared_statements
            WHERE statement LIKE '%SKIP LOCKED%' AND statement NOT LIKE '%pg_prepared_statements%'
            """
        ) { (name: try $0.next(String.self), parameters: try $0.next(Int32.self)) }
        #expect(statements.count > 15)
        for (name, parameters) in statements {
            let nulls = (1..<parameters).reduce("NULL") { (list: SQL, _) in "\(sql: list), NULL" }
            let plan = try await database.query(
                "EXPLAIN (COSTS OFF) EXECUTE \(identifier: name) (\(sql: nulls))"
            ) { try $0.next(String.self) }
            #expect(!plan.contains { $0.contains(/Seq Scan on (accounts|sessions)/) }, "\(plan)")
        }
        await database.close()
    }
}
