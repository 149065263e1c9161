import Foundation
import HTTPTypes
import Outbound
import Secrets
import StrictJSON

extension FederationService {
    /// Ends what a person granted to the app, with all its tokens ("Delete an app authorization"); 404 when it has ended.
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
            )
        )
        // The token is not, or no longer, one of this app's.
        if response.status == 404 || response.status == 422 { throw .codeRejected(error: "unknown_token") }
        return response
    }
}
