import Accounts
import Administration
import HTTPTypes
import Projects

/// `projects/{p}/tenants`: the tenants of a project.
struct TenantRoutes {
    let tenants: ManageTenants

    var routes: [Route] {
        let path = "/v2/projects/{project}/tenants"
        return [
            Route(.get, path, errors: .status, query: ["pageSize", "pageToken"], .admin(.manageConfiguration, list)),
            Route(.post, path, errors: .status, .admin(.manageConfiguration, create)),
            Route(.get, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, get)),
            Route(
                .patch,
                path + "/{tenant}",
                errors: .status,
                query: ["updateMask"],
                .admin(.manageConfiguration, patch)
            ),
            Route(.delete, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, delete)),
        ]
    }

    private static let members = Setting.members(Setting.ofTenant, others: others)

    /// Members that are not settings.
    private static let others =
        ["displayName", "disableAuth", "name", "tenantId", "passwordPolicyConfig.lastUpdateTime"]
        + ["algorithm", "rounds", "memoryCost", "saltSeparator", "signerKey"].flatMap {
            ["hashConfig.\($0)", "signIn.hashConfig.\($0)"]
        }

    private func list(_ call: AdminCall) async throws -> Response {
        let size = try call.pageSize("pageSize", default: 20, maximum: 1000)
        let after = try PageToken.id(try call.call.query.value("pageToken")) ?? ""
        let all = call.project.tenants.values.filter { $0.configuration.id.rawValue > after }
            .sorted { $0.configuration.id.rawValue < $1.configuration.id.rawValue }
        let page = all.prefix(size == 0 ? 20 : size)
        let standard = try tenants.standard(of: call.project.id)
        return try .json { json in
            json.array("tenants") { json in
                for tenant in page {
                    json.object { $0.tenant(tenant.configuration, in: tenant.project, over: standard) }
                }
            }
            if page.count < all.count, let last = page.last {
                json.member("nextPageToken", try PageToken.text(of: last.configuration.id.rawValue))
            }
        }
    }

    private func get(_ call: AdminCall) async throws -> Response {
        try answer(try tenants.find(call.tenant, of: call.project.id), call)
    }

    private func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        try Self.members.check(body)
        let settings = try Setting.ofTenant.filter { try $0.isGiven(in: body) }.map { try $0.change(in: body) }
        return try answer(try await tenants.create(try Self.patch(body, .all), settings, in: call.project), call)
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        try Self.members.check(body)
        let mask = try call.updateMask(of: body) {
            Self.others.contains($0) ? .value : Setting.kind($0, of: Setting.ofTenant)
        }
        let settings = try mask.changes(of: Setting.ofTenant, in: body, others: Self.others)
        let changed = try await tenants.change(call.tenant, try Self.patch(body, mask), settings, of: call.project)
        return try answer(changed, call)
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

    private func answer(_ tenant: Tenant, _ call: AdminCall) throws -> Response {
        let standard = try tenants.standard(of: call.project.id)
        return .json { $0.tenant(tenant.configuration, in: tenant.project, over: standard) }
    }
}

extension JSONWriter {
    /// The members of a tenant.
    ///
    /// - Parameter standard: the settings of a new tenant.
    fileprivate mutating func tenant(
        _ tenant: TenantConfiguration,
        in project: Project,
        over standard: ProjectSettings
    ) {
        member("name", "projects/\(project.number)/tenants/\(tenant.id)")
        // The Emulator UI's client reads it.
        member("tenantId", tenant.id.rawValue)
        member("displayName", tenant.displayName)
        member("disableAuth", ifTrue: tenant.isDisabled)
        settings(
            Setting.ofTenant,
            of: project.settings,
            // What a tenant has from the project, nobody set in it.
            over: standard
        )
        settings(Setting.passwordCost, of: project.settings, below: "signIn.")
    }
}
