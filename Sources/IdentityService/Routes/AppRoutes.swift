import HTTPTypes
import Linking
import Projects
import Secrets
import Storage

/// `projects/{p}/apps`: the mobile apps that results of sign-ins may be sent to.
struct AppRoutes {
    let configuration: ConfigurationStore
    var random = RandomSource.system

    var routes: [Route] {
        let path = "/v2/projects/{project}/apps"
        return [
            Route(.get, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, list)),
            Route(.post, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, create)),
            Route(.delete, path + "/{app}", errors: .status, isInTenants: false, .admin(.manageConfiguration, delete)),
        ]
    }

    private static let limit = 200

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
        let app = try read(try call.json())
        let project = try await configuration.updateSettings(of: call.project.id) { settings in
            let isKnown = settings.apps.contains { known in
                (known.platform, known.identifier, known.scheme) == (app.platform, app.identifier, app.scheme)
            }
            guard !isKnown else { throw ConfigurationError.alreadyExists }
            guard settings.apps.count < Self.limit else {
                throw WireError("INVALID_CONFIG", "A project can have at most \(Self.limit) apps.")
            }
            settings.apps.append(app)
            return ["apps"]
        }
        return .json { $0.app(app, of: project) }
    }

    private func delete(_ call: AdminCall) async throws -> Response {
        let id = call.call.parameter("app")
        _ = try await configuration.updateSettings(of: call.project.id) { settings in
            let rest = settings.apps.filter { $0.id != id }
            guard rest.count < settings.apps.count else { throw ConfigurationError.notFound }
            settings.apps = rest
            return ["apps"]
        }
        return .json { _ in }
    }

    private func read(_ body: WireObject) throws -> AppRegistration {
        let platforms = AppRegistration.Platform.allCases.map(\.rawValue)
        guard
            let platform = try body.choice("platform", of: platforms).flatMap(AppRegistration.Platform.init(rawValue:))
        else {
            throw WireError("INVALID_CONFIG", "platform must be IOS or ANDROID.")
        }
        let name = platform == .ios ? "bundleId" : "packageName"
        let app = AppRegistration(
            id: random.text(20, of: "abcdefghijklmnopqrstuvwxyz0123456789"),
            platform: platform,
            identifier: try body.string(name) ?? "",
            scheme: try body.string("scheme")
        )
        guard let app else {
            throw WireError(
                "INVALID_CONFIG",
                "\(name) must be a name with dots; scheme, for IOS only, must contain a dot or a hyphen."
            )
        }
        return app
    }
}

extension JSONWriter {
    fileprivate mutating func app(_ app: AppRegistration, of project: Project) {
        member("name", "projects/\(project.number)/apps/\(app.id)")
        member("appId", app.id)
        member("platform", app.platform.rawValue)
        member(app.platform == .ios ? "bundleId" : "packageName", app.identifier)
        member("scheme", app.scheme)
    }
}
