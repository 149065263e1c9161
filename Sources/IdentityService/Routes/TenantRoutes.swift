import Administration
import HTTPTypes
import Projects

/// `projects/{p}/tenants`: the tenants of a project.
struct TenantRoutes {
    let tenants: ManageTenants

    var routes: [Route] {
        let path = "/v2/projects/{project}/tenants"
        return [
            Route(.get, path, errors: .status, .admin(.manageConfiguration, list)),
            Route(.post, path, errors: .status, .admin(.manageConfiguration, create)),
            Route(.get, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, get)),
            Route(.patch, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, patch)),
            Route(.delete, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, delete)),
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let size = try call.pageSize("pageSize", default: 20, maximum: 1000)
        let after = try call.call.query.value("pageToken") ?? ""
        let all = call.project.tenants.values.filter { $0.configuration.id.rawValue > after }
            .sorted { $0.configuration.id.rawValue < $1.configuration.id.rawValue }
        let page = all.prefix(size == 0 ? 20 : size)
        return .json { json in
            guard !page.isEmpty else { return }
            json.array("tenants") { json in
                for tenant in page { json.object { $0.tenant(tenant.configuration, in: tenant.project) } }
            }
            if page.count < all.count { json.member("nextPageToken", page.last?.configuration.id.rawValue) }
        }
    }

    private func get(_ call: AdminCall) async throws -> Response {
        Self.answer(try tenants.find(call.tenant, of: call.project.id))
    }

    private func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let settings = try Setting.ofTenant.filter { try $0.isGiven(in: body) }.map { try $0.change(in: body) }
        return Self.answer(try await tenants.create(try Self.patch(body, FieldMask(nil)), settings, in: call.project))
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let mask = try call.updateMask()
        let settings = try mask.changes(of: Setting.ofTenant, in: body, others: ["displayName", "disableAuth"])
        return Self.answer(
            try await tenants.change(call.tenant, try Self.patch(body, mask), settings, of: call.project)
        )
    }

    private func delete(_ call: AdminCall) async throws -> Response {
        try await tenants.delete(call.tenant, of: call.project.id)
        return .json { _ in }
    }

    private static func patch(_ body: WireObject, _ mask: FieldMask) throws -> Patch<TenantConfiguration> {
        var patch = Patch<TenantConfiguration>()
        if mask.contains("displayName") { patch.set(\.displayName, to: try body.string("displayName")) }
        if mask.contains("disableAuth") { patch.set(\.isDisabled, to: try body.bool("disableAuth") ?? false) }
        return patch
    }

    private static func answer(_ tenant: Tenant) -> Response {
        .json { $0.tenant(tenant.configuration, in: tenant.project) }
    }
}

extension JSONWriter {
    /// The members of a tenant.
    fileprivate mutating func tenant(_ tenant: TenantConfiguration, in project: Project) {
        member("name", "projects/\(project.number)/tenants/\(tenant.id)")
        member("displayName", tenant.displayName)
        member("disableAuth", ifTrue: tenant.isDisabled)
        settings(Setting.ofTenant, of: project.settings)
        settings(Setting.passwordCost, of: project.settings, below: "signIn.")
    }
}
