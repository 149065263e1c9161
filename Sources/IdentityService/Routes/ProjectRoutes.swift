import Accounts
import HTTPTypes
import Projects

/// What an app may know of its project.
struct ProjectRoutes {
    var routes: [Route] {
        [Route(.get, "/v1/projects", legacy: "getProjectConfig", .client(project))]
    }

    private func project(_ call: ClientCall) async throws -> Response {
        let project = call.caller.project
        return .json { json in
            json.member("projectId", int64: project.number.rawValue)
            json.member("authorizedDomains", strings: project.settings.authorizedDomains)
            json.member("allowPasswordUser", ifTrue: project.settings.passwordSignIn)
            json.member("enableAnonymousUser", ifTrue: project.settings.anonymousSignIn)
        }
    }
}
