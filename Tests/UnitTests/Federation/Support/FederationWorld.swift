import Domain
import Federation
import Foundation
import Outbound
import Projects
import Secrets
import StrictJSON
import Synchronization
import TestKit

/// A clock that stands still until it is told.
final class StillClock: Sendable {
    private let date: Mutex<Date>

    init(_ seconds: TimeInterval = 1_800_000_000) { date = Mutex(Date(timeIntervalSince1970: seconds)) }

    var now: Date { date.withLock { $0 } }
    var seconds: Int64 { Int64(now.timeIntervalSince1970) }
    func advance(_ seconds: TimeInterval) { date.withLock { $0.addTimeInterval(seconds) } }
}

/// The room under test against a scripted provider: an OpenID Connect one at `/`, GitHub at `/gh` and `/api`.
struct FederationWorld: Sendable {
    let server: ScriptedServer
    let clock: StillClock
    let http: OutboundClient
    let service: FederationService
    let time: OutboundTime

    static func run(
        verifiers: [any CredentialVerifier] = [],
        _ body: @Sendable (FederationWorld) async throws -> Void
    ) async throws {
        try await ScriptedServer.run { server in
            let clock = StillClock()
            let time = OutboundTime()
            let http = OutboundClient(allowsLoopback: true, limits: .patient, passing: time.pass)
            let service = FederationService(http: http, now: { clock.now }, verifiers: verifiers)
            let world = FederationWorld(server: server, clock: clock, http: http, service: service, time: time)
            world.publishDiscovery()
            world.publishKeys(.rsa)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(world))
            } catch {
                outcome = .failure(error)
            }
            await http.shutdown()
            try outcome.get()
        }
    }

    var issuer: String { server.base }

    /// Ends the time of the requests in progress once the provider has one for a path.
    func timeRunsOut(at path: String) async throws {
        try await waitUntil { !server.requests(to: path).isEmpty }
        try await time.runOut()
    }

    /// Members given replace the usual ones; `nil` removes one.
    func publishDiscovery(_ changes: [String: String?] = [:], headers: [(String, String)] = []) {
        var members: [String: String?] = [
            "issuer": "\"\(issuer)\"",
            "authorization_endpoint": "\"\(issuer)/authorize\"",
            "token_endpoint": "\"\(issuer)/token\"",
            "userinfo_endpoint": "\"\(issuer)/userinfo\"",
            "jwks_uri": "\"\(issuer)/keys\"",
            "code_challenge_methods_supported": "[\"S256\"]",
            "scopes_supported": "[\"openid\",\"email\",\"profile\"]",
            "id_token_signing_alg_values_supported": "[\"RS256\",\"ES256\"]",
        ]
        members.merge(changes) { $1 }
        let text = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.sorted()
        server.on(
            "/.well-known/openid-configuration",
            .json("{" + text.joined(separator: ",") + "}", headers: headers)
        )
    }

    func publishKeys(_ keys: TestKey...) {
        server.on("/keys", .json(TestKey.jwks(keys.map { $0.jwk() })))
    }

    /// A generic OpenID Connect provider.
    func oidc(definition: String? = nil, secret: String? = "s3cret", audiences: [String] = []) -> ProviderConfiguration
    {
        ProviderConfiguration(
            provider: ProviderID("oidc.acme"),
            enabled: true,
            clientID: "client-1",
            clientSecret: secret.map(Secret.init),
            audiences: audiences,
            issuer: issuer,
            overrides: definition
        )
    }

    func google(definition: String? = nil, audiences: [String] = []) -> ProviderConfiguration {
        ProviderConfiguration(
            provider: .google,
            enabled: true,
            clientID: "client-1",
            clientSecret: Secret("s3cret"),
            audiences: audiences,
            overrides: definition ?? #"{"variables":{"base":"\#(issuer)"}}"#
        )
    }

    func github(definition: String? = nil) -> ProviderConfiguration {
        ProviderConfiguration(
            provider: .github,
            enabled: true,
            clientID: "client-1",
            clientSecret: Secret("s3cret"),
            overrides: definition ?? #"{"variables":{"base":"\#(server.base)/gh","api":"\#(server.base)/api"}}"#
        )
    }

    /// A plain OAuth 2.0 provider, given by its definition alone.
    func oauth2(_ members: String = "", secret: String? = "s3cret") -> ProviderConfiguration {
        ProviderConfiguration(
            provider: ProviderID("oauth.plain"),
            enabled: true,
            clientID: "client-1",
            clientSecret: secret.map(Secret.init),
            overrides: """
                {"endpoints":{"authorization":"\(server.base)/authorize","token":"\(server.base)/token"},
                 "profile":[{"url":"\(server.base)/profile"}]\(members.isEmpty ? "" : "," + members)}
                """
        )
    }

    /// Claims of a good ID token; changes are JSON texts, `nil` removes a claim.
    func claims(_ changes: [String: String?] = [:]) -> String {
        var claims: [String: String?] = [
            "iss": "\"\(issuer)\"", "aud": "\"client-1\"", "sub": "\"subject-1\"",
            "iat": "\(clock.seconds)", "exp": "\(clock.seconds + 3600)",
            "email": "\"ada@example.com\"", "email_verified": "true", "name": "\"Ada Lovelace\"",
        ]
        claims.merge(changes) { $1 }
        let text = claims.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.sorted()
        return "{" + text.joined(separator: ",") + "}"
    }

    func idToken(_ changes: [String: String?] = [:], key: TestKey = .rsa) throws -> String {
        try key.sign(payload: claims(changes))
    }

    /// Starts a sign-in with the usual redirect URI.
    func start(
        _ configuration: ProviderConfiguration,
        redirectURI: String = "https://app.example.com/callback",
        scopes: [String] = [],
        customParameters: [String: String] = [:]
    ) async throws -> AuthorizationRequest {
        try await service.authorizationRequest(
            for: configuration,
            AuthorizationOptions(redirectURI: redirectURI, scopes: scopes, customParameters: customParameters)
        )
    }

    /// Finishes it as a browser would that came back with a code.
    func finish(
        _ request: AuthorizationRequest,
        _ configuration: ProviderConfiguration,
        query: String? = nil,
        at redirectURI: String = "https://app.example.com/callback"
    ) async throws -> FederatedCredential {
        let query = query ?? "code=code-1&state=\(request.state.reveal())"
        let callback = try ProviderCallback(requestURI: redirectURI + "?" + query, postBody: nil)
        return try await service.redeem(callback, flow: request.flow, with: configuration)
    }

    /// Makes the token endpoint answer with a good ID token for this flow.
    func answerToken(
        for request: AuthorizationRequest,
        claims changes: [String: String?] = [:],
        key: TestKey = .rsa,
        extra: String = ""
    ) throws {
        var changes = changes
        if changes["nonce"] == nil { changes["nonce"] = request.flow.nonce.map { "\"\($0)\"" } }
        let token = try idToken(changes, key: key)
        server.on(
            "/token",
            .json(#"{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"id_token":"\#(token)"\#(extra)}"#)
        )
    }

    func verify(
        _ idToken: String,
        nonce: String? = nil,
        accessToken: String? = nil,
        with configuration: ProviderConfiguration? = nil
    ) async throws -> FederatedCredential {
        let configuration = configuration ?? oidc()
        let credential = DirectCredential(
            idToken: Secret(idToken),
            accessToken: accessToken.map(Secret.init),
            nonce: nonce.map(Secret.init)
        )
        return try await service.verify(credential, id: configuration.provider, with: configuration)
    }
}
