package import Projects
import Secrets
import Storage

/// Creates, changes and deletes the tenants of a project.
package struct ManageTenants: Sendable {
    let configuration: ConfigurationStore
    let random: RandomSource
    let allowsAnyName: Bool

    /// Creates a tenant with the project's protection and without any sign-in method.
    ///
    /// - Throws: ``AdministrationError/tenantsNotAllowed``, ``AdministrationError/invalid(_:)``.
    package func create(
        _ patch: Patch<TenantConfiguration>,
        _ settings: [SettingChange],
        in project: Project
    ) async throws -> Tenant {
        guard project.settings.allowsTenants else { throw AdministrationError.tenantsNotAllowed }
        var tenant = TenantConfiguration(id: .none, settings: TenantSettings(of: project.settings))
        try apply(patch, settings, to: &tenant, of: project)
        let suffix = random.text(5, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        let name = tenant.displayName.flatMap { TenantConfiguration.isDisplayName($0) ? $0 : nil }
        tenant.id = TenantID(rawValue: "\(name ?? "tenant")-\(suffix)")
        do {
            try await configuration.createTenant(tenant, in: project.id)
        } catch ConfigurationError.notFound {
            let limit = ConfigurationStore.tenantLimit
            throw AdministrationError.invalid("A project can have at most \(limit) tenants.")
        }
        return try find(tenant.id, of: project.id)
    }

    /// - Throws: ``AdministrationError/tenantNotFound``, ``AdministrationError/invalid(_:)``.
    package func change(
        _ id: TenantID,
        _ patch: Patch<TenantConfiguration>,
        _ settings: [SettingChange],
        of project: Project
    ) async throws -> Tenant {
        try await existing {
            _ = try await configuration.updateTenant(id, in: project.id) { tenant in
                try apply(patch, settings, to: &tenant, of: project)
            }
        }
        return try find(id, of: project.id)
    }

    /// Deletes a tenant with everything in it; its ID is never reused.
    ///
    /// - Throws: ``AdministrationError/tenantNotFound``.
    package func delete(_ id: TenantID, of project: ProjectID) async throws {
        try await existing { try await configuration.deleteTenant(id, of: project) }
    }

    /// - Throws: ``AdministrationError/tenantNotFound``.
    package func find(_ id: TenantID, of project: ProjectID) throws(AdministrationError) -> Tenant {
        guard let tenant = configuration.snapshot.project(project)?.tenants[id] else { throw .tenantNotFound }
        return tenant
    }

    /// What nobody set in a tenant: the defaults, and what a new one gets from its project.
    ///
    /// - Throws: ``AdministrationError/tenantNotFound`` if the project is gone.
    package func standard(of project: ProjectID) throws(AdministrationError) -> ProjectSettings {
        guard let settings = configuration.snapshot.project(project)?.settings else { throw .tenantNotFound }
        let inherited = TenantSettings(of: settings)
        var standard = TenantSettings()
        (standard.passwordPolicy, standard.smsRegions) = (inherited.passwordPolicy, inherited.smsRegions)
        return ProjectSettings().inTenant(standard)
    }

    /// - Parameter project: with or without a tenant's settings, which are replaced.
    private func apply(
        _ patch: Patch<TenantConfiguration>,
        _ changes: [SettingChange],
        to tenant: inout TenantConfiguration,
        of project: Project
    ) throws {
        try patch.apply(to: &tenant)
        guard tenant.displayName.map(isAllowed) ?? true else {
            throw AdministrationError.invalid(
                "displayName must be 4 to 20 letters, digits and hyphens, starting with a letter."
            )
        }
        var settings = project.settings.inTenant(tenant.settings)
        for change in changes { try change.apply(&settings) }
        tenant.settings = TenantSettings(in: settings)
    }

    private func isAllowed(_ name: String) -> Bool {
        let isLine =
            name.utf8.count <= 256 && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return allowsAnyName && isLine || TenantConfiguration.isDisplayName(name)
    }

    private func existing(_ body: () async throws -> Void) async throws {
        do { try await body() } catch ConfigurationError.notFound { throw AdministrationError.tenantNotFound }
    }
}
