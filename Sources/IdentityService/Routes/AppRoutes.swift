import Administration
import HTTPTypes
import Projects

/// `projects/{p}/apps`: the mobile apps that results of sign-ins may be sent to.
struct AppRoutes {
    let apps: ManageApps

    var routes: [Route] {
        let path = "/v2/projects/{project}/apps"
        return [
            Route(.get, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, list)),
            Route(.post, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, create)),
            Route(.delete, path + "/{app}", errors: .status, isInTenants: false, .admin(.manageConfiguration, delete)),
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let project = call.project
        return .json { json in
            guard !project.settings.apps.isEmpty else { return }
            json.array("apps") { json in
                for app in project.settings.apps { json.object { $0.app(app, of: project) } }
            }
        }
    }

    private func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let platforms = AppRegistration.Platform.allCases.map(\.rawValue)
        guard
            let platform = try body.choice("platform", of: platforms).flatMap(AppRegistration.Platform.init(rawValue:))
        else { throw AdministrationError.invalid("platform must be IOS or ANDROID.") }
        let app = try await apps.register(
            try body.string(platform.identifierName) ?? "",
            on: platform,
            scheme: try body.string("scheme"),
            teamID: try body.text("teamId"),
            certificates: try body.strings("sha256Hashes"),
            in: call.project.id
        )
        return .json { $0.app(app, of: call.project) }
    }

    private func delete(_ call: AdminCall) async throws -> Response {
        try await apps.remove(call.call.parameter("app"), from: call.project.id)
        return .json { _ in }
    }
}

extension JSONWriter {
    fileprivate mutating func app(_ app: AppRegistration, of project: Project) {
        member("name", "projects/\(project.number)/apps/\(app.id)")
        member("appId", app.id)
        member("platform", app.platform.rawValue)
        member(app.platform.identifierName, app.identifier)
        member("scheme", app.scheme)
        member("teamId", app.teamID)
        if let hashes = app.certificates { member("sha256Hashes", strings: hashes) }
    }
}
