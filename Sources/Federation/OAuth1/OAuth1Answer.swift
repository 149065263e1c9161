import HTTPTypes
import Outbound
import StrictJSON

/// The successful response of an OAuth 1.0a endpoint that issues tokens: a form (RFC 5849 §2.1, §2.3).
struct OAuth1Answer {
    let token: OAuth1Token
    let members: JSONObject

    init(_ response: OutboundResponse) throws(FederationError) {
        guard response.isSuccess else {
            // X returns errors as JSON: {"errors": [{"code": 415, "message": "…"}]}.
            let error = (try? JSONValue(parsing: response.body))?[path: "errors"]?.array?.first
            guard let code = error?[path: "code"]?.scalarText else { throw .invalidAnswer(.refused) }
            let fault = ProviderFault(code: code, description: error?[path: "message"]?.string)
            throw .providerError(error: fault.code, description: fault.description)
        }
        guard let members = TokenAnswer.form(response.body) else { throw .invalidAnswer(.notUnderstood) }
        guard let token = OAuth1Token(members) else { throw .invalidAnswer(.missingAccessToken) }
        self.token = token
        self.members = members
    }
}

extension FederationService {
    /// Posts an empty request whose parameters are in its signed header.
    func postSigned(
        to url: String,
        _ parameters: [(name: String, value: String)],
        by signer: OAuth1Signer,
        of provider: ResolvedProvider
    ) async throws(FederationError) -> OutboundResponse {
        var request = OutboundRequest(method: .post, url: url, maximumResponseSize: 64 * 1024)
        signer.sign(&request, parameters)
        return try await send(request, of: provider.definition)
    }
}
