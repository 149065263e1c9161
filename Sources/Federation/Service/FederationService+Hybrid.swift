import Projects
import StrictJSON

/// The tokens that came through the browser with the code.
struct FrontChannel: Sendable {
    /// Verified; nil if it was not requested.
    var idToken: VerifiedIDToken?
    /// Checked and then dropped: the app has it already, and only the token endpoint's tokens are stored or used.
    var accessToken: String?

    /// Both ID tokens must be about the same user (OIDC Core §3.3.3.6).
    func requireSamePerson(as other: VerifiedIDToken) throws(FederationError) {
        guard let idToken else { return }
        guard idToken.subject.utf8.elementsEqual(other.subject.utf8), idToken.claims["iss"] == other.claims["iss"]
        else { throw .subjectMismatch }
    }
}

extension FederationService {
    /// Verifies the other parts of the response type before the code is sent anywhere (OIDC Core §3.3.2, T-B9).
    ///
    /// If a requested part is missing, the sign-in fails; a part that was not requested is ignored.
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

    /// Without an ID token, nothing binds an access token to the code: if our own token can read user info, this one
    /// must return the same user.
    func requireSameOwner(
        of front: FrontChannel,
        as own: ProviderProfile,
        subject: String?,
        at provider: ResolvedProvider
    ) async throws(FederationError) {
        guard let token = front.accessToken, front.idToken == nil else { return }
        guard own.document[stated: "sub"] != nil else {
            if let failure = own.failure { throw .unavailable(failure) }
            return
        }
        let profile = try await profile(of: provider, accessToken: token, subject: subject)
        guard profile.document[stated: "sub"] != nil else {
            throw profile.failure.map { .unavailable($0) } ?? .accessTokenRejected
        }
    }
}
