import HTTPTypes
import Outbound
import Secrets
import StrictJSON

extension FederationService {
    /// Removes the app from the user's list at LINE, as its guidelines require when an account is deleted ("Deauthorize
    /// your app").
    ///
    /// It uses a channel access token and is about the user's token; 400 means that it was done before.
    func deauthorizeLINE(
        _ token: Secret,
        _ provider: ResolvedProvider,
        _ client: ProviderClient
    ) async throws(FederationError) -> OutboundResponse {
        let api = provider.definition.variables["api"] ?? ""
        let channel = try TokenAnswer(
            try await post(
                [("grant_type", "client_credentials")],
                to: api + "/oauth2/v3/token",
                as: client,
                definition: provider.definition
            ),
            definition: provider.definition
        )
        var body = JSONObject()
        body["userAccessToken"] = .string(token.reveal())
        let response = try await call(
            OutboundRequest(
                method: .post,
                url: api + "/user/v1/deauthorize",
                headers: [.authorization: "Bearer " + channel.accessToken, .contentType: "application/json"],
                body: Array(JSONValue.object(body).jsonText.utf8)
            ),
            of: provider.definition
        )
        if response.status == 400 { throw .codeRejected(error: "unknown_token") }
        return response
    }
}
