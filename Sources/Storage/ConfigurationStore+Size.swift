import Postgres
import Projects

/// How much configuration a project can have: each node keeps that of all projects in memory, and reads it at each change
/// of any (threats.md, T-E11).
extension ConfigurationStore {
    /// In bytes, of a project with its tenants, providers and keys, as they are stored.
    package static let projectSize = 8 << 20

    /// Refuses a change after which a project's configuration is larger than it may be; deletions are none.
    ///
    /// Changes lock the version's row, so the size after one includes those before it.
    ///
    /// - Throws: ``ConfigurationError/tooLarge``, and the transaction must end.
    @discardableResult
    static func keepingSize<Result>(
        of project: ProjectID,
        _ transaction: PostgresTransaction,
        _ change: () async throws -> Result
    ) async throws -> Result {
        let result = try await change()
        guard try await size(of: project, transaction) <= projectSize else { throw ConfigurationError.tooLarge }
        return result
    }

    private static func size(of project: ProjectID, _ transaction: PostgresTransaction) async throws -> Int {
        let ofProject: SQL = "WHERE project = \(project.rawValue)"
        let rows = try await transaction.query(
            """
            SELECT sum(size)::int8 FROM (
                SELECT octet_length(config::text) + coalesce(octet_length(delivery), 0) FROM projects \(sql: ofProject)
                UNION ALL
                SELECT 200 + octet_length(settings::text) FROM tenants \(sql: ofProject) AND deleted_at IS NULL
                UNION ALL
                SELECT 200 + octet_length(concat(client_id, display_name, issuer, overrides, audiences))
                    + coalesce(octet_length(client_secret), 0) + coalesce(octet_length(webhook_secret), 0)
                FROM provider_configurations \(sql: ofProject)
                UNION ALL
                SELECT 200 + coalesce(octet_length(display_name), 0) FROM api_keys \(sql: ofProject) AND revoked_at IS NULL
                UNION ALL
                SELECT octet_length(c::text) FROM admin_credentials c \(sql: ofProject) AND NOT disabled
            ) parts (size)
            """
        ) { try $0.next(Int64?.self) }
        return Int(rows.first.flatMap(\.self) ?? 0)
    }
}
