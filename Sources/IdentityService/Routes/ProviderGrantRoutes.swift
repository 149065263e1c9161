import Accounts
import Domain
import HTTPTypes
import Projects
import Secrets

/// The state and the revocation of a grant at a provider.
struct ProviderGrantRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(.post, "/v2/accounts:revokeToken", errors: .status, .client(revokeToken)),
            Route(.post, "/v1/accounts:credentialState", refusing: .sessions, .client(credentialState)),
            Route(
                .post,
                "/v1/projects/{project}/accounts:credentialState",
                refusing: .sessions,
                .admin(.readAccounts, credentialStateForAdmin)
            ),
        ]
    }

    private func revokeToken(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let provider = try Self.provider(body)
        guard let type = try Self.tokenType(body) else { throw WireError("INVALID_ARGUMENT", "tokenType is missing.") }
        guard let token = try body.string("token"), !token.isEmpty else {
            throw WireError("INVALID_ARGUMENT", "token is missing.")
        }
        let request = RevokeToken.Request(
            idToken: try body.text("idToken"),
            provider: provider,
            type: type,
            token: Secret(token),
            redirectURI: try body.string("redirectUri").flatMap { $0.isEmpty ? nil : $0 },
            bundleID: call.call.headers[.bundleID]
        )
        try await accounts.revokeToken(request, call.caller)
        return .json { _ in }
    }

    private static func tokenType(_ body: WireObject) throws -> RevokeToken.TokenType? {
        let names = ["TOKEN_TYPE_UNSPECIFIED", "REFRESH_TOKEN", "ACCESS_TOKEN", "CODE"]
        return try body.choice("tokenType", of: names).flatMap(names.firstIndex).flatMap(RevokeToken.TokenType.init)
    }

    private func credentialState(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let provider = try Self.provider(body)
        let idToken = try body.text("idToken")
        let result = try await accounts.credentialState(idToken: idToken, provider: provider, call.caller)
        return .json { $0.credentialState(result) }
    }

    private func credentialStateForAdmin(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let result = try await accounts.admin.credentialState(
            localID: try body.text("localId"),
            provider: try Self.provider(body),
            call.project
        )
        return .json { $0.credentialState(result) }
    }

    private static func provider(_ body: WireObject) throws -> ProviderID {
        guard let provider = try body.string("providerId"), !provider.isEmpty else {
            throw WireError("INVALID_PROVIDER_ID")
        }
        return ProviderID(provider)
    }
}

extension JSONWriter {
    fileprivate mutating func credentialState(_ result: ReadCredentialState.Result) {
        member("providerId", result.provider.rawValue)
        member("credentialState", result.state.rawValue)
        member("isPrivateEmail", result.isPrivateEmail)
        member("emailForwarding", result.emailForwarding)
        member("realUserStatus", number: result.realUserStatus.map { Int64($0) })
    }
}
