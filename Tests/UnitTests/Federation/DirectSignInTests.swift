import Domain
import Federation
import Foundation
import Projects
import Secrets
import Testing

@Suite struct DirectSignInTests {
    @Test("T-C3: an access token alone is not asked about where nothing says how, as at a provider that was moved")
    func accessToken() async throws {
        try await FederationWorld.run { world in
            let credential = DirectCredential(accessToken: Secret("at-of-another-app"))
            for configuration in [world.oidc(), world.google(), world.oauth2()] {
                await #expect(throws: FederationError.accessTokenNotAccepted(configuration.provider)) {
                    try await world.service.verify(credential, id: configuration.provider, with: configuration)
                }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test func takesTheTokensOfAllItsClients() async throws {
        try await FederationWorld.run { world in
            let configuration = world.google(audiences: ["ios-client", "android-client"])
            for client in ["client-1", "ios-client", "android-client"] {
                let token = try world.idToken(["aud": "\"\(client)\""])
                let credential = try await world.verify(token, accessToken: "at-9", with: configuration)
                #expect(credential.tokens.accessToken == "at-9")
                #expect(credential.federatedID == "https://accounts.google.com/subject-1")
            }
            // Google names the app that asked in azp.
            let hybrid = try world.idToken(["azp": "\"android-client\""])
            _ = try await world.verify(hybrid, with: configuration)
            // A web flow's code belongs to one client alone.
            let request = try await world.start(configuration)
            try world.answerToken(for: request, claims: ["aud": "\"ios-client\""])
            await #expect(throws: FederationError.audienceMismatch(got: ["ios-client"], want: "client-1")) {
                try await world.finish(request, configuration)
            }
        }
    }

    @Test func aPlainProviderHasNoIDTokens() async throws {
        try await FederationWorld.run { world in
            for configuration in [world.github(), world.oauth2()] {
                await #expect(throws: FederationError.idTokenNotAccepted(configuration.provider)) {
                    try await world.verify(try world.idToken(), with: configuration)
                }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test func refusesADisabledOrMissingProvider() async throws {
        try await FederationWorld.run(verifiers: [FakeVerifier()]) { world in
            var configuration = world.oidc()
            configuration.enabled = false
            let disabled = configuration
            for token in [try world.idToken(), "fake"] {
                await #expect(throws: FederationError.providerDisabled) {
                    try await world.verify(token, with: disabled)
                }
            }
            await #expect(throws: FederationError.providerNotFound) {
                try await world.service.verify(
                    DirectCredential(idToken: Secret("x.y.z")),
                    id: ProviderID("oidc.none"),
                    with: nil
                )
            }
            await #expect(throws: FederationError.missingCredential) {
                try await world.service.verify(DirectCredential(), id: world.oidc().provider, with: world.oidc())
            }
        }
    }

    @Test func aVerifierOfTheListIsAskedFirst() async throws {
        try await FederationWorld.run(verifiers: [FakeVerifier()]) { world in
            let fake = try await world.verify("fake")
            #expect(fake.identity.subject == "fake-subject")
            #expect(world.service.emailTrust(for: fake, configuration: world.oidc(), strict: true) == .claim)
            let unknown = try await world.service.verify(
                DirectCredential(idToken: Secret("fake")),
                id: ProviderID("oidc.unknown"),
                with: nil
            )
            #expect(unknown.identity.provider == ProviderID("oidc.unknown"))
            let real = try await world.verify(try world.idToken())
            #expect(real.identity.subject == "subject-1")
            #expect(!real.believesEmailClaim)
        }
    }

    @Test func showsNothingSecretWhenPrinted() async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken()
            let credential = try await world.verify(token, accessToken: "hidden-access-token")
            var printed = "\(credential) \(String(reflecting: credential)) \(credential.tokens)"
            dump(credential, to: &printed)
            #expect(!printed.contains("hidden-access-token"))
            #expect(!printed.contains(token))
            #expect(!printed.contains("ada@example.com"))
        }
    }

    @Test func errorsDescribeThemselvesWithoutValues() {
        let errors: [FederationError] = [
            .missingSubject(claims: "{\"email\":\"hidden\"}"), .issuerMismatch(got: "hidden", want: "hidden"),
            .audienceMismatch(got: ["hidden"], want: "hidden"), .providerError(error: "hidden", description: "hidden"),
            .customParameterNotAllowed(name: "hidden"), .codeRejected(error: "hidden"),
        ]
        for error in errors { #expect(!"\(error)".contains("hidden")) }
    }

    @Test func credentialsSurviveBeingStored() async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken(["nonce": "\"\(SecureHash.sha256Hex("raw"))\""])
            let credential = try await world.verify(token, nonce: "raw")
            let stored = try JSONEncoder().encode(credential)
            #expect(try JSONDecoder().decode(FederatedCredential.self, from: stored) == credential)
            var flow = try await world.start(world.oidc(), customParameters: ["max_age": "9"]).flow
            #expect(AuthorizationFlow(json: flow.json, stateHash: flow.stateHash) == flow)
            flow.loginAskedAt = 7
            flow.nonce = "\"\u{1}é"
            flow.variables = ["tenant": "one", "region": "two"]
            flow.responseType = ResponseType([.idToken, .token])
            flow.redirectURI = nil
            #expect(AuthorizationFlow(json: flow.json, stateHash: flow.stateHash) == flow)
            for end in [0, 1, flow.json.count - 1] {
                #expect(AuthorizationFlow(json: Array(flow.json.prefix(end)), stateHash: flow.stateHash) == nil)
            }
        }
    }
}

/// Takes the token `fake`, as `identity dev` takes JSON.
private struct FakeVerifier: CredentialVerifier {
    func verify(
        _ credential: DirectCredential,
        definition: ProviderDefinition?,
        id: ProviderID
    ) async throws(FederationError) -> FederatedCredential? {
        guard credential.idToken == Secret("fake") else { return nil }
        return FederatedCredential(
            identity: FederatedIdentity(provider: id, subject: "fake-subject", issuer: "fake"),
            tokens: ProviderTokens(idToken: "fake"),
            rawUserInfo: "{}",
            federatedID: "fake-subject",
            believesEmailClaim: true
        )
    }
}
