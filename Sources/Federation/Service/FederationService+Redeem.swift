import Domain
import Foundation
import HTTPTypes
import Outbound
package import Projects
import Secrets
import StrictJSON
import Text

extension FederationService {
    /// Finishes a sign-in: checks the callback against the flow, exchanges the code, verifies the response.
    ///
    /// The caller has found the flow by the callback's ``ProviderCallback/state``, has consumed it, and has compared
    /// the client's `sessionId`. The code is sent to the provider at most once.
    ///
    /// - Parameter keepName: receives what the provider sends only once about the user, before the code is exchanged,
    ///   so that
    ///   later failures cannot lose it. Only called if the callback itself proves the user.
    package func redeem(
        _ callback: ProviderCallback,
        flow: AuthorizationFlow,
        with configuration: ProviderConfiguration,
        keepName: (_ subject: String, _ user: String) async -> Void = { _, _ in }
    ) async throws(FederationError) -> FederatedCredential {
        guard configuration.provider == flow.provider else { throw .issuerParameterMismatch }
        try checkOrigin(of: callback, flow)
        let provider = try await resolve(configuration, choosing: flow.variables)
        guard provider.issuer.utf8.elementsEqual(flow.issuer.utf8) else { throw .issuerParameterMismatch }
        if provider.definition.protocolKind == .oauth1 {
            return try await redeemVerifier(in: callback, flow: flow, provider: provider)
        }
        let code = try code(in: callback, flow, provider)
        let front = try await frontChannel(of: callback, code: code, flow, provider, configuration)
        if provider.definition.quirks.contains(.appleUser), let subject = front.idToken?.subject,
            let user = callback["user"], AppleUser.name(user) != nil
        {
            await keepName(subject, user)
        }
        let (definition, secret) = (provider.definition, configuration.clientSecret)
        let answer = try await exchange(code, flow: flow, definition: definition, secret: secret)
        var facts: AccessTokenFacts?
        if let check = provider.definition.token.check {
            facts = try await inspect(answer.accessToken, by: check, of: provider)
        }
        var mapping = IdentityMapping(definition: provider.definition)
        mapping.scopes = answer.scopes ?? facts?.scopes ?? flow.scopes
        mapping.user = callback["user"]
        let idToken = try await verifiedIDToken(of: answer, code: code, flow, provider, configuration)
        let subject = idToken?.subject
        if let idToken {
            try front.requireSamePerson(as: idToken)
            mapping.claims = idToken.sentClaims
        }
        mapping.profile = try await profile(of: provider, accessToken: answer.accessToken, subject: subject)
        try await requireSameOwner(of: front, as: mapping.profile, subject: subject, at: provider)
        let identity = try mapping.identity(subject: subject)
        try facts?.requireSubject(identity.subject)
        let tokens = ProviderTokens(
            idToken: subject == nil ? nil : answer.idToken,
            accessToken: answer.accessToken,
            refreshToken: answer.refreshToken,
            expiresIn: answer.expiresIn,
            issuedAt: seconds,
            scopes: mapping.scopes
        )
        var credential = FederatedCredential(
            identity: identity,
            tokens: await longLived(tokens, of: identity.subject, at: provider),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: provider.definition.federatedID(for: identity.subject),
            signInAttributes: mapping.signInAttributes
        )
        mapping.markGaps(of: &credential)
        return credential
    }

    /// The tokens to store: only a valid token can be exchanged for one that lives longer, so this cannot wait.
    private func longLived(
        _ tokens: ProviderTokens,
        of subject: String,
        at provider: ResolvedProvider
    ) async -> ProviderTokens {
        guard provider.definition.keepTokens, provider.definition.refresh.exchange != nil else { return tokens }
        let exchanged = try? await refresh(tokens, of: subject, at: provider)
        return exchanged ?? tokens
    }

    /// The response's ID token, verified; nil for a provider without ID tokens.
    private func verifiedIDToken(
        of answer: TokenAnswer,
        code: String,
        _ flow: AuthorizationFlow,
        _ provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> VerifiedIDToken? {
        guard provider.definition.protocolKind == .oidc else { return nil }
        guard let idToken = answer.idToken else { throw .invalidAnswer(.missingIDToken) }
        let expectation = IDTokenExpectation(
            flow,
            provider.definition,
            configuration,
            accessToken: answer.accessToken,
            code: code
        )
        return try await verifyIDToken(CompactJWT(idToken), of: provider, expectation)
    }

    private func checkOrigin(of callback: ProviderCallback, _ flow: AuthorizationFlow) throws(FederationError) {
        guard let state = callback.state,
            ConstantTime.equal(SecureHash.sha256(state.reveal()), flow.stateHash)
        else { throw .stateMismatch }
        guard callback.came(to: flow.callbackURI) else { throw .callbackMismatch }
    }

    private func code(
        in callback: ProviderCallback,
        _ flow: AuthorizationFlow,
        _ provider: ResolvedProvider
    ) throws(FederationError) -> String {
        let issuer = callback["iss"]
        if let issuer, !SafeText.isOne(issuer, of: provider.definition.issuers) { throw .issuerParameterMismatch }
        if let fault = callback.fault { throw fault }
        guard let code = callback["code"] else { throw .cancelled }
        guard issuer != nil || !flow.requiresIssuerParameter else { throw .issuerParameterMismatch }
        guard code.utf8.count <= 8_192, !code.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
            throw .codeRejected(error: "malformed")
        }
        return code
    }
}

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

/// Our client at a provider: the client ID, and its credential (RFC 6749 §2.3).
struct ProviderClient: Sendable {
    var id: String
    var authentication: ProviderDefinition.ClientAuthentication
    /// The secret itself, or the private key that signs one.
    var secret: Secret?
}

extension FederationService {
    /// Posts a form to an endpoint that authenticates the client (token, revocation), in exactly one request.
    ///
    /// - Throws: ``FederationError/unavailable(_:)`` without a response, ``FederationError/misconfigured(_:)`` without
    ///   a
    ///   key that can sign; the caller interprets the response.
    func post(
        _ form: [(name: String, value: String)],
        to url: String,
        as client: ProviderClient,
        definition: ProviderDefinition
    ) async throws(FederationError) -> OutboundResponse {
        var form = form
        var headers: HTTPFields = [
            .accept: definition.token.accept,
            .contentType: "application/x-www-form-urlencoded",
        ]
        switch client.authentication {
        case .basic:
            let parts = [client.id, client.secret?.reveal() ?? ""]
            let pair = (definition.token.encodesBasic ? parts.map { PercentEncoding.encode($0) } : parts).joined(
                separator: ":"
            )
            headers[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .post:
            form.append(("client_id", client.id))
            form.append(("client_secret", client.secret?.reveal() ?? ""))
        case .none, .automatic:
            form.append(("client_id", client.id))
        case .appleSecret, .privateKeyJWT:
            form += try assertion(of: client, for: url, definition: definition)
        }
        form += definition.token.extraParameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let request = OutboundRequest(
            method: .post,
            url: url,
            headers: headers,
            body: Array(FormFields(form).text.utf8),
            maximumResponseSize: 256 * 1024
        )
        return try await call(request, of: definition)
    }

    /// The form fields with which a client with a private key authenticates.
    private func assertion(
        of client: ProviderClient,
        for url: String,
        definition: ProviderDefinition
    ) throws(FederationError) -> [(name: String, value: String)] {
        do throws(InvalidDefinition) {
            if client.authentication == .appleSecret,
                let secret = try AppleClientSecret.value(for: client, now: seconds)
            {
                return [("client_id", client.id), ("client_secret", secret)]
            }
            let key = try ClientKey(client.secret)
            if client.authentication == .appleSecret {
                let secret = try ClientAssertion.appleSecret(
                    clientID: client.id,
                    key: key,
                    variables: definition.variables,
                    audience: definition.issuers.first ?? "",
                    now: seconds
                )
                return [("client_id", client.id), ("client_secret", secret)]
            }
            let assertion = try ClientAssertion.clientAssertion(
                clientID: client.id,
                key: key,
                keyID: definition.variables["keyId"],
                // Never a value from discovery: a provider could get assertions that are valid at another one
                // (CVE-2025-27370). Without an issuer there is no discovery either.
                audience: definition.variables["audience"] ?? definition.issuers.first ?? url,
                id: random.handle(),
                now: seconds
            )
            return [
                ("client_id", client.id),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
        } catch {
            throw .misconfigured(error)
        }
    }
}

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
