import Projects
import StrictJSON

/// What came through the browser beside the code.
struct FrontChannel: Sendable {
    /// Verified; nil when it was not asked for.
    var idToken: VerifiedIDToken?
    /// Judged and then forgotten: the app has it already, and all that is kept or used is the token endpoint's own.
    var accessToken: String?

    /// Both ID tokens must speak of the same person (OIDC Core §3.3.3.6).
    func requireSamePerson(as other: VerifiedIDToken) throws(FederationError) {
        guard let idToken else { return }
        guard idToken.subject.utf8.elementsEqual(other.subject.utf8), idToken.claims["iss"] == other.claims["iss"]
        else { throw .subjectMismatch }
    }
}

extension FederationService {
    /// Verifies what the response type asks for beside the code, before the code goes anywhere (OIDC Core §3.3.2, T-B9).
    ///
    /// Without a part that was asked for there is no sign-in; one that was not asked for is not even looked at.
    func frontChannel(
        of callback: ProviderCallback,
        code: String,
        _ flow: AuthorizationFlow,
        _ provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> FrontChannel {
        let parts = flow.responseType.parts
        var front = FrontChannel()
        if parts.contains(.token) {
            guard let token = callback["access_token"], TokenAnswer.isToken(token) else {
                throw .invalidAnswer(.missingAccessToken)
            }
            front.accessToken = token
        }
        guard parts.contains(.idToken) else { return front }
        guard let text = callback["id_token"] else { throw .invalidAnswer(.missingIDToken) }
        var expectation = IDTokenExpectation(
            flow,
            provider.definition,
            configuration,
            accessToken: front.accessToken,
            code: code
        )
        expectation.requiresHashes = true
        front.idToken = try await verifyIDToken(CompactJWT(text), of: provider, expectation)
        return front
    }

    /// Nothing binds an access token that came without an ID token: where user info answers our own token, it must tell
    /// the same of this one.
    func requireSameOwner(
        of front: FrontChannel,
        as own: ProviderProfile,
        subject: String?,
        at provider: ResolvedProvider
    ) async throws(FederationError) {
        guard let token = front.accessToken, front.idToken == nil, own.document["sub"] != nil else { return }
        let profile = try await profile(of: provider, accessToken: token, subject: subject)
        guard profile.document["sub"] != nil else { throw .accessTokenRejected }
    }
}
