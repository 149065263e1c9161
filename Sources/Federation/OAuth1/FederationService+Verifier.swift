import Domain
import Outbound
import Projects
import Secrets
import StrictJSON

extension FederationService {
    /// Finishes an OAuth 1.0a sign-in (RFC 5849 §2.2, §2.3): the callback must match the flow's own request token; its
    /// verifier is sent to the provider at most once.
    func redeemVerifier(
        in callback: ProviderCallback,
        flow: AuthorizationFlow,
        provider: ResolvedProvider
    ) async throws(FederationError) -> FederatedCredential {
        let (token, verifier) = try verifier(in: callback, flow)
        let response = try await postSigned(
            to: flow.tokenEndpoint,
            [("oauth_verifier", verifier)],
            by: signer(provider.client, token),
            of: provider
        )
        guard response.status != 401 else { throw .codeRejected(error: "http_401") }
        let answer = try OAuth1Answer(response)
        let subject = answer.members["user_id"]?.string
        var credential = try await credential(of: answer.token, at: provider, subject: subject)
        credential.tokens.issuedAt = seconds
        return credential
    }

    /// Reads the user's profile with signed calls, which require a token issued for our client (T-C3).
    ///
    /// - Parameter subject: the user that the provider named when it issued the token; the profile must be theirs.
    func credential(
        of token: OAuth1Token,
        at provider: ResolvedProvider,
        subject: String?
    ) async throws(FederationError) -> FederatedCredential {
        var mapping = IdentityMapping(definition: provider.definition)
        mapping.profile = try await profile(
            of: provider,
            accessToken: token.token,
            tokenSecret: token.secret,
            subject: nil
        )
        let identity = try mapping.identity(subject: nil)
        if let subject, !subject.utf8.elementsEqual(identity.subject.utf8) { throw .subjectMismatch }
        var credential = FederatedCredential(
            identity: identity,
            tokens: ProviderTokens(accessToken: token.token, tokenSecret: token.secret),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: provider.definition.federatedID(for: identity.subject)
        )
        mapping.markGaps(of: &credential)
        return credential
    }

    private func verifier(
        in callback: ProviderCallback,
        _ flow: AuthorizationFlow
    ) throws(FederationError) -> (OAuth1Token, String) {
        guard callback["denied"] == nil, let token = callback["oauth_token"], let verifier = callback["oauth_verifier"]
        else { throw .cancelled }
        guard let own = flow.requestToken, ConstantTime.equal(token, own.token) else { throw .stateMismatch }
        guard TokenAnswer.isToken(verifier) else { throw .codeRejected(error: "malformed") }
        return (own, verifier)
    }
}
