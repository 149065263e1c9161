import Accounts
import HTTPTypes
import Projects
import Secrets
import Sessions

/// The `token_uri` of service accounts: exchanges assertions for access tokens of the admin API (RFC 7523 §2.1).
struct AccessTokenRoutes {
    let accounts: AccountsService
    let deployment: Deployment

    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// Google's token endpoint, for SDKs whose host name is redirected to this service.
    private static let googles = "https://oauth2.googleapis.com/token"

    var routes: [Route] { [Route(.post, "/token", on: .oauth2, errors: .oauth, .open(grant))] }

    private func grant(_ call: Call) async throws -> Response {
        let body = try call.formOrJSON()
        guard let grant = try body.string("grantType"), !grant.isEmpty else {
            throw WireError.oauth("invalid_request", "grant_type is missing")
        }
        guard grant == Self.grantType else {
            throw WireError.oauth("unsupported_grant_type", "grant_type must be \(Self.grantType)")
        }
        guard let assertion = try body.string("assertion"), !assertion.isEmpty else {
            throw WireError.oauth("invalid_request", "assertion is missing")
        }
        let audiences = [Self.googles] + (deployment.pages(at: call.host).map { [$0.token] } ?? [])
        let result: GrantAccessToken.Result
        do {
            result = try accounts.grantAccessToken(assertion: Secret(assertion), for: audiences)
        } catch let error as AssertionError {
            throw WireError.oauth("invalid_grant", error.rawValue)
        }
        return .json { json in
            json.member("access_token", result.accessToken.reveal())
            json.member("expires_in", number: result.expiresIn)
            json.member("token_type", "Bearer")
        }
    }
}
