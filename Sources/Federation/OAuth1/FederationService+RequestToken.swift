import Outbound
import Projects
import StrictJSON

extension FederationService {
    /// Requests the request token of a sign-in (RFC 5849 §2.1), which is bound to `callback`.
    ///
    /// - Throws: ``FederationError/clientRejected(error:)``, ``FederationError/providerError(error:description:)`` for
    ///   a
    ///   callback that is not registered, ``FederationError/unavailable(_:)``, ``FederationError/invalidAnswer(_:)``.
    func requestToken(
        of provider: ResolvedProvider,
        callback: String
    ) async throws(FederationError) -> OAuth1Token {
        let response = try await postSigned(
            to: try provider.required(\.requestToken, "requestToken"),
            [("oauth_callback", callback)],
            by: signer(provider.client),
            of: provider
        )
        guard response.status != 401 else { throw .clientRejected(error: "http_401") }
        let answer = try OAuth1Answer(response)
        // Otherwise the provider uses OAuth 1.0, in which an attacker can finish another user's sign-in.
        guard answer.members["oauth_callback_confirmed"] == .string("true") else { throw .invalidAnswer(.refused) }
        return answer.token
    }
}
