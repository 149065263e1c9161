import Accounts
import OAuth
import Projects
import Text

extension OAuthRoutes {
    /// Where users see what they granted applications.
    func showGrants(_ call: Call) async throws -> Response {
        try await grants(call) { visited in try await accounts.manageGrants.list(visited.browser, visited.caller) }
    }

    func withdrawGrant(_ call: Call) async throws -> Response {
        let form = try Self.form(call)
        return try await grants(call) { visited in
            // No other page may decide for the user.
            guard call.isFromOwnPage(visited.own) else { throw AccountsError.invalidSessionInfo }
            return try await accounts.manageGrants.withdraw(from: form.value("client"), visited.browser, visited.caller)
        }
    }

    /// The list, or the way to sign in.
    private func grants(
        _ call: Call,
        _ step: (Visited) async throws -> ManageGrants.Page?
    ) async throws -> Response {
        try await visiting(call, language: call.query["ui_locales"]) { visited, context in
            guard let grants = try await step(visited) else {
                let signIn = try await accounts.authorizeApplication.begin(visited.browser, visited.caller)
                return response(to: signIn, visited, context)
            }
            var page = GrantsPage(context: context, project: visited.project, grants: grants).page
            page.cookies = Cookie.oauth(grants.browser, visited)
            return page.response()
        }
    }
}
