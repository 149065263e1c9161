import Accounts
import Postgres
import Projects
import Storage
import TestKit
import Testing

/// Alone with its database, whose statements it looks at.
@Suite("accounts:query: costs", .database)
struct QueryCostTests {
    @Test("a page costs the same among 4,000 accounts and among 40,000")
    func costs() async throws {
        try await TestService.run { service in
            let requests: [(String, JSON?)] =
                [("accounts:batchGet?maxResults=100&nextPageToken=\(try PageToken.text(of: "00002000"))", nil)]
                + ["USER_ID", "CREATED_AT", "USER_EMAIL"].flatMap { sort in
                    [[:], ["providerId": "google.com"]].map { conditions in
                        (
                            "accounts:query",
                            JSON.object(["sortBy": .string(sort), "pageSize": 100]).merging(.object(conditions))
                        )
                    }
                }
            try await service.fill(4_000)
            let few = try await blocks(of: requests, service)
            try await service.fill(40_000, from: 4_001)
            let many = try await blocks(of: requests, service)
            for ((request, few), many) in zip(zip(requests, few), many) {
                #expect(few > 100 && Double(many) <= Double(few) * 1.3, "\(request): \(few), then \(many) blocks")
            }
        }
    }

    /// How many blocks each request's statements looked at.
    private func blocks(of requests: [(String, JSON?)], _ service: TestService) async throws -> [Int64] {
        var blocks: [Int64] = []
        for (path, body) in requests {
            _ = try await service.admin(path, body)  // plans it
            let (_, reply) = try await StatementCount.during { try await service.admin(path, body) }
            reply.expectOK()
            blocks += try await TestDatabase.current.client.query(
                """
                SELECT sum(shared_blks_hit + shared_blks_read)::bigint FROM pg_stat_statements
                WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND query LIKE '%linked_credentials%' AND query NOT LIKE '%pg_stat_statements%'
                """
            ) { try $0.next(Int64.self) }
        }
        return blocks
    }
}

extension TestService {
    /// Accounts whose order by address and time is that of their ids; the last one alone has a phone.
    func fill(_ count: Int, from first: Int = 1) async throws {
        let project = project.id.rawValue
        let withoutAutovacuum: [SQL] = [
            "ALTER TABLE accounts SET (autovacuum_enabled = off)",
            "ALTER TABLE account_activity SET (autovacuum_enabled = off)",
            "ALTER TABLE linked_credentials SET (autovacuum_enabled = off)",
        ]
        for statement in withoutAutovacuum { try await stores.database.execute(statement) }
        try await stores.database.execute(
            """
            WITH n AS (SELECT lpad(n::text, 8, '0') AS id, n FROM generate_series(\(first), \(count)) n),
            activity AS (
                INSERT INTO account_activity (project, tenant, account, last_sign_in_at)
                SELECT \(project), '', id, now() FROM n
            ), linked AS (
                INSERT INTO linked_credentials (project, account, provider, tenant, subject, linked_at, updated_at)
                SELECT \(project), id, 'google.com', '', id, now(), now() FROM n
            )
            INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, created_at)
            SELECT \(project), id, '', CASE WHEN n = \(count) THEN '{phone}' ELSE '{google.com}' END::text[], 0,
                id || '@example.com', id || '@example.com', to_timestamp(n)
            FROM n ORDER BY md5(id)
            """
        )
        try await TestDatabase.current.vacuum(
            "VACUUM (ANALYZE) accounts, account_activity, linked_credentials"
        )
    }
}
