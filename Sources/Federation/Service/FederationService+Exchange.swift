import Projects
import Secrets

extension FederationService {
    /// Exchanges a code at the flow's token endpoint (RFC 6749 §4.1.3), in exactly one request.
    func exchange(
        _ code: String,
        flow: AuthorizationFlow,
        definition: ProviderDefinition,
        secret: Secret?
    ) async throws(FederationError) -> TokenAnswer {
        var form: [(name: String, value: String)] = [("grant_type", "authorization_code"), ("code", code)]
        if let redirectURI = flow.redirectURI { form.append(("redirect_uri", redirectURI)) }
        if let verifier = flow.pkceVerifier { form.append(("code_verifier", verifier)) }
        let client = ProviderClient(id: flow.clientID, authentication: flow.clientAuthentication, secret: secret)
        let response = try await post(form, to: flow.tokenEndpoint, as: client, definition: definition)
        return try TokenAnswer(response, definition: definition)
    }
}
