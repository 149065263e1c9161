import Foundation
import HTTPTypes
import Outbound
import Projects
import Secrets

extension FederationService {
    /// Exchanges a code at the flow's token endpoint (RFC 6749 §4.1.3); sent once, whatever happens.
    func exchange(
        _ code: String,
        flow: AuthorizationFlow,
        definition: ProviderDefinition,
        secret: Secret?
    ) async throws(FederationError) -> TokenAnswer {
        var form: [(name: String, value: String)] = [("grant_type", "authorization_code"), ("code", code)]
        if let redirectURI = flow.redirectURI { form.append(("redirect_uri", redirectURI)) }
        if let verifier = flow.pkceVerifier { form.append(("code_verifier", verifier)) }
        var headers: HTTPFields = [
            .accept: definition.token.accept,
            .contentType: "application/x-www-form-urlencoded",
        ]
        switch flow.clientAuthentication {
        case .basic:
            let pair = FormText.encode(flow.clientID) + ":" + FormText.encode(secret?.reveal() ?? "")
            headers[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .post:
            form.append(("client_id", flow.clientID))
            form.append(("client_secret", secret?.reveal() ?? ""))
        case .none, .automatic:
            form.append(("client_id", flow.clientID))
        }
        form += definition.token.extraParameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let request = OutboundRequest(
            method: .post,
            url: flow.tokenEndpoint,
            headers: headers,
            body: Array(FormText.encode(form).utf8),
            maximumResponseSize: 256 * 1024
        )
        let response: OutboundResponse
        do throws(OutboundError) {
            response = try await http.send(request)
        } catch {
            throw .unavailable(.init(error))
        }
        return try TokenAnswer(response, definition: definition)
    }
}
