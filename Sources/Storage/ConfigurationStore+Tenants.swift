import Foundation
import Postgres
package import Projects
import StrictJSON

extension ConfigurationStore {
    /// The number of tenants that a project can have: each node keeps all of them in memory.
    package static let tenantLimit = 1_000

    /// Adds a tenant to a project.
    ///
    /// - Throws: ``ConfigurationError/alreadyExists`` for an ID that a tenant has or had; ``ConfigurationError/notFound`` if
    ///   the project has as many as it may (``tenantLimit``).
    package func createTenant(_ tenant: TenantConfiguration, in project: ProjectID) async throws {
        do {
            try await changing(
                """
                INSERT INTO tenants (project, tenant, display_name, disabled, settings, created_at)
                SELECT \(project.rawValue), \(tenant.id.rawValue), \(tenant.displayName), \(tenant.isDisabled),
                    \(try Self.text(of: tenant.settings))::jsonb, \(now())
                WHERE \(Int64(Self.tenantLimit)) > (
                    SELECT count(*) FROM tenants WHERE project = \(project.rawValue) AND deleted_at IS NULL
                )
                RETURNING true
                """,
                recording: AuditEntry(.tenantCreated, in: Scope(project: project, tenant: tenant.id), at: now()),
                adding: project
            )
        } catch let error as PostgresError where error.constraint == "tenants_pkey" {
            throw ConfigurationError.alreadyExists
        }
    }

    /// Changes a tenant's current configuration; simultaneous changes do not undo each other.
    ///
    /// - Returns: the tenant afterwards.
    /// - Throws: what `change` throws, and nothing is changed; ``ConfigurationError/notFound``.
    package func updateTenant(
        _ id: TenantID,
        in project: ProjectID,
        _ change: @escaping @Sendable (inout TenantConfiguration) throws -> Void
    ) async throws -> TenantConfiguration {
        let changed = try await transactionInTurn(of: project) { transaction in
            let found = try await readTenants(
                "project = \(project.rawValue) AND tenant = \(id.rawValue) AND deleted_at IS NULL FOR UPDATE",
                transaction
            )
            guard let row = found.first else { throw ConfigurationError.notFound }
            let before = try row.configuration()
            var tenant = before
            try change(&tenant)
            let entry = AuditEntry(
                .tenantChanged,
                in: Scope(project: project, tenant: id),
                changes: try Self.members(of: tenant, unlike: before),
                at: now()
            )
            let settings = try Self.text(of: tenant.settings)
            let statement: SQL = """
                UPDATE tenants SET display_name = \(tenant.displayName), disabled = \(tenant.isDisabled),
                    settings = \(settings)::jsonb
                WHERE project = \(project.rawValue) AND tenant = \(id.rawValue)
                """
            try await Self.keepingSize(of: project, transaction) {
                Self.record(written: statement, entry, transaction)
            }
            return tenant
        }
        try await load()
        return changed
    }

    /// Deletes a tenant with everything in it; its ID is never reused.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func deleteTenant(_ id: TenantID, of project: ProjectID) async throws {
        let date = now()
        let entry = AuditEntry(.tenantDeleted, in: Scope(project: project, tenant: id), at: date)
        let found = try await deletions.pass(project) {
            try await database.transaction { transaction in
                let found = try await transaction.execute(
                    """
                    UPDATE tenants SET deleted_at = \(date), display_name = NULL, settings = '{}'
                    WHERE project = \(project.rawValue) AND tenant = \(id.rawValue) AND deleted_at IS NULL
                    """
                )
                guard found > 0 else { return found }
                try await AccountStore.deleteAll(in: Scope(project: project, tenant: id), transaction)
                // The revocation feed finds the tenant by this time, which may be long after the first step.
                transaction.write(
                    """
                    UPDATE tenants SET deleted_at = \(now())
                    WHERE project = \(project.rawValue) AND tenant = \(id.rawValue)
                    """
                )
                transaction.write(
                    """
                    DELETE FROM provider_configurations
                    WHERE project = \(project.rawValue) AND tenant = \(id.rawValue)
                    """
                )
                transaction.write(entry.insertion())
                transaction.write(Self.nextVersion)
                return found
            }
        }
        try await load()
        guard found > 0 else { throw ConfigurationError.notFound }
    }

    /// The tenants of each project.
    func readTenants() async throws -> [String: [TenantConfiguration]] {
        let rows = try await readTenants("deleted_at IS NULL", database)
        let read = rows.compactMap { row in
            readable("tenant \(row.tenant) of project \(row.project)") { (row.project, try row.configuration()) }
        }
        return Dictionary(grouping: read, by: \.0).mapValues { $0.map(\.1) }
    }

    private struct TenantRow {
        var project: String
        var tenant: String
        var displayName: String?
        var isDisabled: Bool
        var settings: String

        func configuration() throws -> TenantConfiguration {
            TenantConfiguration(
                id: TenantID(rawValue: tenant),
                displayName: displayName,
                isDisabled: isDisabled,
                settings: try JSONDecoder().decode(TenantSettings.self, from: Data(settings.utf8))
            )
        }
    }

    private func readTenants(_ condition: SQL, _ executor: some PostgresExecutor) async throws -> [TenantRow] {
        try await executor.query(
            "SELECT project, tenant, display_name, disabled, settings::text FROM tenants WHERE \(sql: condition)"
        ) { row in
            TenantRow(
                project: try row.next(),
                tenant: try row.next(),
                displayName: try row.next(),
                isDisabled: try row.next(),
                settings: try row.next()
            )
        }
    }

    /// The names of the members in which the tenants differ.
    private static func members(
        of tenant: TenantConfiguration,
        unlike other: TenantConfiguration
    ) throws -> [String] {
        let own = [
            ("displayName", tenant.displayName != other.displayName),
            ("disabled", tenant.isDisabled != other.isDisabled),
        ].filter(\.1).map(\.0)
        let new = try JSONValue(parsing: text(of: tenant.settings)).object
        let old = try JSONValue(parsing: text(of: other.settings)).object
        return own + (new?.members ?? []).map(\.name).filter { new?[$0] != old?[$0] }.sorted()
    }

    private static func text(of settings: TenantSettings) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(settings), as: UTF8.self)
    }
}
