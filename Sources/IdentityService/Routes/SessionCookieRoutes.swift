import Accounts
import HTTPTypes
import Projects

/// Session cookies, for back ends.
struct SessionCookieRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        ["/v1/projects/{project}", "/v1/projects/{project}/tenants/{tenant}"]
            .map { Route(.post, "\($0):createSessionCookie", .admin(.manageAccounts, create)) }
    }

    private func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let cookie = try await accounts.createSessionCookie(
            idToken: try body.text("idToken"),
            duration: try body.int64("validDuration"),
            call.project
        )
        return .json { $0.member("sessionCookie", cookie) }
    }
}
