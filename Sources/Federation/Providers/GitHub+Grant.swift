import Foundation
import HTTPTypes
import Outbound
import Secrets
import StrictJSON

extension FederationService {
    /// Revokes a user's grant for the app, with all its tokens ("Delete an app authorization").
    ///
    /// GitHub returns 404 for an unknown token ("Check a token"); 422 can also mean too many requests.
    func deleteGitHubGrant(
        _ token: Secret,
        _ provider: ResolvedProvider,
        _ client: ProviderClient
    ) async throws(FederationError) -> OutboundResponse {
        var body = JSONObject()
        body["access_token"] = .string(token.reveal())
        let pair = client.id + ":" + (client.secret?.reveal() ?? "")
        let response = try await call(
            OutboundRequest(
                method: .delete,
                url: try provider.required(\.revocation, "revocation"),
                headers: [
                    .authorization: "Basic " + Data(pair.utf8).base64EncodedString(),
                    .accept: "application/vnd.github+json", .contentType: "application/json",
                ],
                body: Array(JSONValue.object(body).jsonText.utf8)
            ),
            of: provider.definition
        )
        if response.status == 404 { throw .codeRejected(error: "unknown_token") }
        return response
    }
}
