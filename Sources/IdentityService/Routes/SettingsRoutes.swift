import Administration
import HTTPTypes
import Projects

/// `projects/{p}/config`: a project's settings.
struct SettingsRoutes {
    let changeSettings: ChangeSettings

    var routes: [Route] {
        let path = "/v2/projects/{project}/config"
        return [
            Route(.get, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, get)),
            Route(.patch, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, patch)),
        ]
    }

    private func get(_ call: AdminCall) async throws -> Response {
        .json { $0.settings(of: call.project) }
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let changes = try call.updateMask().changes(of: Setting.all, in: body)
        let project = try await changeSettings(
            changes,
            of: call.project.id,
            isOfService: call.admin.project == nil
        )
        return .json { $0.settings(of: project) }
    }
}
