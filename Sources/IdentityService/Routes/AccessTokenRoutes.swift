import Accounts
import HTTPTypes
import Projects
import Secrets
import Sessions

/// Access tokens of the admin API: for assertions of service accounts, whose `token_uri` this is (RFC 7523 §2.1), and
/// for tokens of workloads (RFC 8693).
struct AccessTokenRoutes {
    let accounts: AccountsService
    let deployment: Deployment

    private enum Grant: String {
        case assertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        case exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    /// RFC 8693 §3.
    private enum TokenType {
        static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
        static let accepted = ["urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token"]
    }

    /// Google's older token endpoints.
    private static let others = [
        Route.Address(.accounts, "/o/oauth2/token"), Route.Address(.googleAPIs, "/oauth2/v3/token"),
        Route.Address(.googleAPIs, "/oauth2/v4/token"),
    ]

    /// For SDKs whose host names are redirected to this service.
    private static let googles =
        ["https://oauth2.googleapis.com/token"] + others.map { "https://\($0.host.rawValue)\($0.path)" }

    var routes: [Route] { [Route(.post, "/token", on: .oauth2, also: Self.others, errors: .oauth, .open(grant))] }

    private func grant(_ call: Call) async throws -> Response {
        let body = try call.formOrJSON()
        guard let grant = try body.string("grantType"), !grant.isEmpty else {
            throw WireError.oauth("invalid_request", "grant_type is missing")
        }
        switch Grant(rawValue: grant) {
        case .assertion: return try await redeem(body, call)
        case .exchange: return try await exchange(body)
        case nil:
            let known = [Grant.assertion, .exchange].map(\.rawValue).joined(separator: " or ")
            throw WireError.oauth("unsupported_grant_type", "grant_type must be \(known)")
        }
    }

    private func redeem(_ body: WireObject, _ call: Call) async throws -> Response {
        guard let assertion = try body.string("assertion"), !assertion.isEmpty else {
            throw WireError.oauth("invalid_request", "assertion is missing")
        }
        // Whoever moves a project's host elsewhere must not be able to use here what is sent to them.
        let own = deployment.shows(nil, at: call.host) ? deployment.pages(at: call.host) : nil
        let audiences = Self.googles + (own.map { [$0.token] } ?? [])
        let result: GrantAccessToken.Result
        do {
            result = try await accounts.grantAccessToken(assertion: Secret(assertion), for: audiences)
        } catch let error as AssertionError {
            throw WireError.oauth("invalid_grant", error.rawValue)
        }
        return .json { json in
            json.member("access_token", result.accessToken.reveal())
            json.member("expires_in", number: result.expiresIn)
            json.member("token_type", "Bearer")
        }
    }

    private func exchange(_ body: WireObject) async throws -> Response {
        guard let subjectToken = try body.string("subjectToken"), !subjectToken.isEmpty else {
            throw WireError.oauth("invalid_request", "subject_token is missing")
        }
        guard let type = try body.string("subjectTokenType"), TokenType.accepted.contains(type) else {
            let known = TokenType.accepted.joined(separator: " or ")
            throw WireError.oauth("invalid_request", "subject_token_type must be \(known)")
        }
        guard try body.string("requestedTokenType") ?? TokenType.accessToken == TokenType.accessToken else {
            throw WireError.oauth("invalid_request", "requested_token_type must be \(TokenType.accessToken)")
        }
        // A token that acts for another user is not what the caller would get.
        guard try body.string("actorToken") == nil else {
            throw WireError.oauth("invalid_request", "actor_token is not supported")
        }
        guard try body.string("resource") == nil else {
            throw WireError.oauth("invalid_target", "resource is not supported: name a workload as audience")
        }
        let request = ExchangeToken.Request(
            subjectToken: Secret(subjectToken),
            audience: try body.string("audience"),
            scopes: try body.string("scope")?.split(separator: " ").map { String($0) }
        )
        do {
            return Self.response(try await accounts.exchangeToken(request))
        } catch let error as TokenExchangeError {
            throw WireError(error)
        }
    }

    /// RFC 8693 §2.2.1.
    private static func response(_ result: ExchangeToken.Result) -> Response {
        .json { json in
            json.member("access_token", result.accessToken.reveal())
            json.member("issued_token_type", TokenType.accessToken)
            json.member("token_type", "Bearer")
            json.member("expires_in", number: result.expiresIn)
            json.member("scope", result.scopes.map(\.rawValue).sorted().joined(separator: " "))
        }
    }
}

extension WireError {
    /// The error of RFC 8693 §2.2.2, where an unacceptable token is an invalid request.
    ///
    /// The text is the same for every cause.
    fileprivate init(_ error: TokenExchangeError) {
        self =
            switch error {
            case .refused: .oauth("invalid_request", "The subject token is not accepted")
            case .issuerUnreachable: .unavailable(cause: "workload.issuerUnreachable")
            case .wrongTarget: .oauth("invalid_target", "audience must be the ID of the workload whose token it is")
            case .wrongScope: .oauth("invalid_scope", "The workload does not have a requested scope")
            }
    }
}
