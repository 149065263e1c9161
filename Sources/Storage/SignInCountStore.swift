package import Domain
import Postgres
package import Projects

/// One count of sign-ins by outcome; it contains nothing about individual users.
package struct SignInCount: Hashable, Sendable {
    package var scope: Scope
    /// Days since 1970, in UTC.
    package var day: Int64
    package var provider: ProviderID
    package var outcome: String

    package init(scope: Scope, day: Int64, provider: ProviderID, outcome: String) {
        (self.scope, self.day, self.provider, self.outcome) = (scope, day, provider, outcome)
    }
}

/// Daily counts of sign-ins by outcome, of all nodes together.
package struct SignInCountStore: Sendable {
    let database: PostgresClient

    /// Days for which counts are kept.
    package static let lifetime = 400

    /// Adds to the counts; those of deleted projects are skipped.
    package func add(_ counts: [SignInCount: Int64]) async throws {
        // In the same order on every node, to prevent deadlocks.
        let sorted = counts.sorted { $0.key.place < $1.key.place }
        guard !sorted.isEmpty else { return }
        try await database.execute(
            """
            INSERT INTO sign_in_counts AS s (project, tenant, day, provider, outcome, count)
            SELECT n.project, n.tenant, '1970-01-01'::date + n.day::int, n.provider, n.outcome, n.count
            FROM unnest(\(sorted.map(\.key.scope.project.rawValue))::text[],
                \(sorted.map(\.key.scope.tenant.rawValue))::text[], \(sorted.map(\.key.day))::int8[],
                \(sorted.map(\.key.provider.rawValue))::text[], \(sorted.map(\.key.outcome))::text[],
                \(sorted.map(\.value))::int8[]) WITH ORDINALITY
                n (project, tenant, day, provider, outcome, count, number)
            WHERE EXISTS (SELECT FROM projects p WHERE p.project = n.project)
            ORDER BY n.number
            ON CONFLICT (project, tenant, day, provider, outcome) DO UPDATE SET count = s.count + excluded.count
            """
        )
    }

    /// The counts of a project with all of its tenants, or of a tenant, since a day.
    package func counts(in scope: Scope, since day: Int64) async throws -> [SignInCount: Int64] {
        let tenant = scope.tenant == .none ? nil : scope.tenant.rawValue
        let rows = try await database.query(
            """
            SELECT (day - '1970-01-01'::date)::int8, provider, outcome, sum(count)::int8 FROM sign_in_counts
            WHERE project = \(scope.project.rawValue) AND (\(tenant)::text IS NULL OR tenant = \(tenant))
                AND day >= '1970-01-01'::date + \(day)::int
            GROUP BY day, provider, outcome
            """
        ) { row -> (SignInCount, Int64) in
            let (day, provider, outcome): (Int64, String, String) = (try row.next(), try row.next(), try row.next())
            let key = SignInCount(scope: scope, day: day, provider: ProviderID(provider), outcome: outcome)
            return (key, try row.next())
        }
        return Dictionary(rows) { $0 + $1 }
    }
}

extension SignInCount {
    fileprivate var place: (String, String, Int64, String, String) {
        (scope.project.rawValue, scope.tenant.rawValue, day, provider.rawValue, outcome)
    }
}
