import Delivery
import Development
import Domain
import Foundation
import JWTKit
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

/// A service of a project whose functions are asked before accounts are made and before people are signed in.
struct FunctionScene: Sendable {
    let service: TestService
    let receiver: WebReceiver
    let backEnd: TestServiceAccount
    let tenant: TestTenant
    let time: OutboundTime

    static func run(
        limitsRates: Bool = false,
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (FunctionScene) async throws -> Void
    ) async throws {
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (200, "{}") }
            let time = OutboundTime()
            var options = TestService.Options()
            options.outboundTime = time
            options.limitsRates = limitsRates
            options.settings.emailEnumerationProtection = false
            options.settings.allowsEmailLink = true
            options.settings.phone.isEnabled = true
            options.settings.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/create"
            options.settings.blockingFunctions[.beforeSignIn] = receiver.baseURL + "/sign-in"
            // Every path asks; Firebase's own rule has its test.
            options.settings.asksFunctionsAboutAll = true
            change(&options.settings)
            try await TestService.run(options) { service in
                let tenant = try await TestProvider.tenant(.genericOIDC)
                tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
                try await service.configure(tenant.configuration(as: "oidc.acme"))
                let account = try await TestServiceAccount.register(
                    in: service.project.id,
                    service.stores.configuration
                )
                try await body(
                    FunctionScene(service: service, receiver: receiver, backEnd: account, tenant: tenant, time: time)
                )
            }
        }
    }

    /// Paths of the functions' requests, in order.
    var asked: [String] { receiver.received.map(\.path) }

    /// What the last request of a function was, once its signature was checked with the keys that the service publishes.
    func question(to path: String) async throws -> JSON {
        let request = try #require(receiver.received.last { $0.path == path })
        #expect(request.method == "POST" && request.header("content-type") == "application/json")
        let jwt = try #require(request.json["data"]?["jwt"]?.string)
        let judge = JWTKeyCollection()
        let keys = try await service.send(
            "GET",
            "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        )
        for jwk in try JSONDecoder().decode(JWKS.self, from: Data(keys.response.text.utf8)).keys {
            try await judge.add(jwk: jwk, isDefault: false)
        }
        let claims = try await judge.verify(jwt, as: Claims.self)
        let now = service.clock.now()
        #expect(claims.iss.value == Deployment(publicURL: "https://id.example.com").issuer(of: service.project))
        #expect(claims.aud.value == [receiver.baseURL + path])
        #expect(claims.iat.value <= now && claims.exp.value > now)
        return Reply.claims(of: jwt)
    }

    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let aud: AudienceClaim
        let iat: IssuedAtClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A proof of Ada's identity at the provider `oidc.acme`, as the body of `signInWithIdp`.
    func adaAtAcme() throws -> String {
        let ada = tenant.addUser(TestUser("ada", email: "ada@example.com", emailVerified: true, name: "Ada"))
        return "id_token=\(try tenant.mintIDToken(for: ada))&providerId=oidc.acme"
    }

    /// Rows of accounts and sessions.
    func written() async throws -> [Int64] {
        let project = service.project.id.rawValue
        return try await TestDatabase.current.client.query(
            """
            SELECT (SELECT count(*) FROM accounts WHERE project = \(project)),
                (SELECT count(*) FROM sessions WHERE project = \(project))
            """
        ) { row in [try row.next(Int64.self), try row.next(Int64.self)] }.first ?? []
    }
}

/// A way to an account and a session, the registry of those that ask the functions.
enum EntrancePath: String, CaseIterable, Sendable {
    case password
    case anonymous
    case customToken = "custom"
    case provider = "oidc.acme"
    case emailLink
    case phone

    /// Whether Firebase calls functions for it.
    var isAskedByFirebase: Bool { self != .anonymous && self != .customToken }

    /// Whether somebody comes back by it.
    var returns: Bool { self != .anonymous }

    /// The whole way of a person, the first time or again.
    func enter(_ scene: FunctionScene, isNew: Bool = true) async throws -> Reply {
        let service = scene.service
        switch self {
        case .password:
            return isNew
                ? try await service.signUp("ada@example.com") : try await service.signInWithPassword("ada@example.com")
        case .anonymous: return try await service.call("accounts:signUp", [:])
        case .customToken:
            let token = try scene.backEnd.sign(scene.backEnd.payload(uid: "person-1", at: service.clock.seconds))
            return try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
        case .provider: return try await service.signInWithIdP(postBody: try scene.adaAtAcme())
        case .emailLink:
            let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            return try await service.signInWithLink("ada@example.com", code)
        case .phone: return try await service.signInByPhone(PhoneScene.number)
        }
    }
}
