import Accounts
import Domain
import HTTPTypes
import Projects
import Secrets

/// Secure Token: exchanges refresh tokens for ID tokens.
struct TokenRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [Route(.post, "/v1/token", on: .secureToken, errors: .plainFailures(.status), .client(refresh))]
    }

    private func refresh(_ call: ClientCall) async throws -> Response {
        let body = try call.call.formOrJSON()
        guard let grant = try body.string("grantType"), !grant.isEmpty else { throw WireError("MISSING_GRANT_TYPE") }
        guard grant == "refresh_token" else { throw WireError("INVALID_GRANT_TYPE") }
        let token = try body.string("refreshToken").map { Secret($0) }
        let result = try await accounts.refresh(refreshToken: token, call.caller)
        return .json { json in
            json.member("access_token", result.tokens.idToken)
            json.member("expires_in", int64: result.tokens.expiresIn)
            json.member("token_type", "Bearer")
            json.member("refresh_token", result.tokens.refreshToken.reveal())
            json.member("id_token", result.tokens.idToken)
            json.member("user_id", result.account.rawValue)
            json.member("project_id", int64: result.project.rawValue)
        }
    }
}
