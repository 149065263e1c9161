import Administration
import HTTPTypes
import Projects
import StrictJSON

/// `projects/{p}/passkeyConfig`, and that of a tenant: the settings of passkeys as a resource, as Firebase has them.
struct PasskeyConfigRoutes {
    let changeSettings: ChangeSettings
    let tenants: ManageTenants

    var routes: [Route] {
        let path = "/v2/projects/{project}/passkeyConfig"
        return [
            Route(.get, path, errors: .status, .admin(.manageConfiguration, get)),
            Route(.patch, path, errors: .status, query: ["updateMask"], .admin(.manageConfiguration, patch)),
        ]
    }

    private func get(_ call: AdminCall) async throws -> Response { Self.answer(call.project, call) }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        try Self.members.check(body)
        let config = WireObject([.init(name: Setting.passkeyConfig, value: .object(JSONObject(body.members)))])
        let changes = try call.updateMask(of: body) { _ in .value }
            .changes(of: Setting.passkeys, in: config, below: Setting.passkeyConfig + ".", others: ["name"])
        guard call.tenant != .none else {
            return Self.answer(try await changeSettings(changes, of: call.project.id), call)
        }
        let tenant = try await tenants.change(call.tenant, Patch(), changes, of: call.project)
        return Self.answer(tenant.project, call)
    }

    private static let members = MemberNames(
        ["name"] + Setting.passkeys.map { String($0.path.dropFirst(Setting.passkeyConfig.count + 1)) }
    )

    private static func answer(_ project: Project, _ call: AdminCall) -> Response {
        let parent = call.tenant == .none ? "" : "/tenants/\(call.tenant)"
        return .json { json in
            json.member("name", "projects/\(project.id)\(parent)/passkeyConfig")
            json.settings(Setting.passkeys, of: project.settings, below: Setting.passkeyConfig + ".")
        }
    }
}
