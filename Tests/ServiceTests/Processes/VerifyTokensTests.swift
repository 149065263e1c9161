import Crypto
import Foundation
import JWTKit
import Projects
import Secrets
import Sessions
import Storage
import TestKit
import Testing

/// The code of docs/guide/verify-tokens.md, taken out of the document, with tokens of a service that runs.
@Suite("docs/guide/verify-tokens.md", .database, .timeLimit(.minutes(10)))
struct VerifyTokensTests {
    private static let path = "docs/guide/verify-tokens.md"

    // MARK: Python

    @Test("T-D1, T-D2: its Python takes the tokens of the project, and refuses forged, stale, revoked and foreign ones")
    func python() async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let tokens = try await Tokens(service)
            let files = FileManager.default.temporaryDirectory
            let account = files.appending(path: "account-\(UUID().uuidString).json")
            let plan = files.appending(path: "plan-\(UUID().uuidString).json")
            defer { for file in [account, plan] { try? FileManager.default.removeItem(at: file) } }
            try await Data(Self.serviceAccount(of: service).text.utf8).write(to: account)
            let port = try #require(service.baseURL.split(separator: ":").last.flatMap { Double($0) })
            let content: JSON = [
                "port": .number(port), "adminKey": .string(service.adminToken),
                "values": [
                    "https://auth.example.com": .string(service.baseURL),
                    "my-project": .string(service.project.id.rawValue),
                    "service-account.json": .string(account.path),
                ],
                "snippets": .object(
                    Self.snippets(tokens).mapValues { .object($0.mapValues { .array($0.map(\.json)) }) }
                ),
            ]
            try Data(content.text.utf8).write(to: plan)
            let root = IdentityProgram.repository
            let result = try await Program.run(
                root.appending(path: ".venv/bin/python").path,
                [
                    root.appending(path: "Tests/ServiceTests/Processes/verify_tokens.py").path,
                    root.appending(path: Self.path).path, plan.path,
                ]
            )
            #expect(result.output.trimmingCharacters(in: .newlines) == "[]", "\(result)")
            #expect(result.status == 0)
        }
    }

    /// By the headings of the document and the functions that stand there, what each is to take and to refuse.
    private static func snippets(_ tokens: Tokens) -> [String: [String: [Case]]] {
        let tenant = JSON.string(tokens.tenant)
        let tenants = [
            Case("a tenant's", tokens.ofTenant, tenant),
            Case("a tenant's for another's", tokens.ofTenant, "other", passes: false),
            Case("a tenant's for the project's", tokens.ofTenant, passes: false),
            Case("the project's for a tenant's", tokens.good, tenant, passes: false),
        ]
        let ended = [
            Case("revoked", tokens.revoked, passes: false), Case("disabled", tokens.disabled, passes: false),
            Case("deleted", tokens.deleted, passes: false),
        ]
        let byOwnIssuer = Case("by the project's own issuer", tokens.ownGood, passes: false)
        let idToken = Case("an ID token", tokens.good, passes: false)
        let revoked = [
            Case("good", claims: tokens.good), Case("a tenant's", claims: tokens.ofTenant),
            Case("revoked", claims: tokens.revoked, passes: false),
            Case("disabled", claims: tokens.disabled, passes: false),
            Case("deleted", claims: tokens.deleted, passes: false),
        ]
        let own = [
            Case("good, ES256", tokens.ownES256), Case("by Firebase's issuer", tokens.good, passes: false),
        ]
        // The SDK does not look at when a sign-in is said to have been.
        let adminTokens = tokens.firebase.filter { $0.name != "of a sign-in to come" }
        return [
            "PyJWT, Firebase's issuer": ["verify_id_token": tokens.firebase + tenants + [byOwnIssuer]],
            "PyJWT, the project's own issuer": ["verify_id_token": tokens.own + own],
            "PyJWT, session cookies": ["verify_session_cookie": tokens.cookies + [idToken]],
            "Whether it was revoked": ["require_not_revoked": revoked],
            "firebase-admin": [
                "verify_id_token": adminTokens + ended
                    + [byOwnIssuer, Case("ES256", tokens.es256, passes: false)],
                "verify_session_cookie": tokens.cookies
                    + [idToken, Case("revoked", tokens.revokedCookie, passes: false)],
            ],
        ]
    }

    /// The file that an Admin SDK loads.
    private static func serviceAccount(of service: TestService) async throws -> JSON {
        let pair = try ServiceAccountKeyPair.generate()
        let key = ServiceAccountKey(
            id: pair.id,
            name: "back-end",
            project: service.project.id,
            scopes: [.readAccounts],
            publicKey: pair.publicKey
        )
        try await service.stores.configuration.create(key)
        return [
            "type": "service_account", "project_id": .string(service.project.id.rawValue),
            "private_key_id": .string(key.id), "private_key": .string(pair.privateKeyPEM.reveal()),
            "client_email": .string(key.email), "token_uri": .string("\(service.baseURL)/token"),
        ]
    }

    // MARK: Swift

    @Test("T-D1, T-D2: its Swift does too, for both issuers")
    func swift() async throws {
        let document = try Repository.text(Self.path)
        let code = try Repository.text("Tests/ServiceTests/Accounts/IDToken.swift")
        #expect(document.contains("```swift\n\(code)```\n"), "what runs here is what the document says")
        var options = TestService.Options()
        options.publicURL = "https://auth.example.com"
        options.settings.allowsTenants = true
        options.projectID = IDToken.project
        try await TestService.run(options) { service in
            let tokens = try await Tokens(service)
            let published = try await service.send(
                "GET",
                "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
            )
            let keys = try JSONDecoder().decode(JWKS.self, from: Data(published.response.text.utf8))
            let cases =
                tokens.firebase + tokens.own
                + [
                    Case("good, ES256", tokens.ownES256), Case("a tenant's", tokens.ofTenant, passes: false),
                ]
            for example in cases {
                let taken = try? await verifiedIDToken(example.token, keys: keys)
                #expect((taken != nil) == example.passes, "\(example.name)")
            }
        }
    }
}

/// A token, or what it says, and whether it is to be taken.
private struct Case {
    let name: String
    let token: String
    let arguments: [JSON]
    let passes: Bool

    init(_ name: String, _ token: String, _ more: JSON..., passes: Bool = true) {
        (self.name, self.token, self.passes) = (name, token, passes)
        arguments = [.string(token)] + more
    }

    init(_ name: String, claims token: String, passes: Bool = true) {
        (self.name, self.token, self.passes) = (name, token, passes)
        arguments = [Reply.claims(of: token)]
    }

    var json: JSON { ["name": .string(name), "arguments": .array(arguments), "passes": .bool(passes)] }
}

/// Tokens of a service, good and bad; each bad one differs from a good one in one thing, and is otherwise signed as that.
private struct Tokens {
    /// By Firebase's issuer.
    let good: String
    /// The same, signed with ES256.
    let es256: String
    let ofTenant: String
    let tenant: String
    let revoked: String
    let revokedCookie: String
    let disabled: String
    let deleted: String
    /// By the project's own issuer.
    let ownGood: String
    let ownES256: String
    let firebase: [Case]
    let own: [Case]
    let cookies: [Case]

    init(_ service: TestService) async throws {
        func signUp(_ name: String) async throws -> (id: JSON, token: String) {
            let user = try await service.signUp("\(name)@example.com")
            return (JSON(user.localID), try #require(user.idToken, "\(user)"))
        }
        func cookie(_ idToken: String) async throws -> String {
            let reply = try await service.admin(":createSessionCookie", ["idToken": .string(idToken)])
            return try #require(reply["sessionCookie"]?.string, "\(reply)")
        }
        func set(_ member: String, _ value: JSON) async throws {
            let body: JSON = ["identity": [member: value]]
            let path = "config?updateMask=identity.\(member)"
            let reply = try await service.admin(path, body, method: "PATCH", version: "v2")
            try #require(reply.status == 200, "\(reply)")
        }
        good = try await signUp("ada").token
        let goodCookie = try await cookie(good)
        tenant = try await service.makeTenant("Northwind", ["enableAnonymousUser": true])
        let guest = try await service.call("accounts:signUp", ["tenantId": .string(tenant)])
        ofTenant = try #require(guest.idToken)
        let others = try await (signUp("revoked"), signUp("disabled"), signUp("deleted"))
        (revoked, disabled, deleted) = (others.0.token, others.1.token, others.2.token)
        revokedCookie = try await cookie(revoked)
        let validSince = JSON.string("\(service.clock.seconds + 1)")
        _ = try await service.admin("accounts:update", ["localId": others.0.id, "validSince": validSince])
        _ = try await service.admin("accounts:update", ["localId": others.1.id, "disableUser": true])
        _ = try await service.admin("accounts:delete", ["localId": others.2.id])
        try await set("signingAlgorithm", "ES256")
        es256 = try await signUp("es256").token
        try await set("tokenIssuer", "own")
        ownES256 = try await signUp("own-es256").token
        try await set("signingAlgorithm", "RS256")
        ownGood = try await signUp("own").token

        let forger = try Forger(service)
        firebase = [Case("good", good)] + (try forger.idTokens(like: good, cookie: goodCookie))
        own = [Case("good", ownGood)] + (try forger.idTokens(like: ownGood, cookie: goodCookie))
        cookies = [Case("good", goodCookie)] + (try forger.cookies(like: goodCookie))
    }
}

private struct Forger {
    private let key: SigningKey
    private let cookieKey: SigningKey
    private let now: Double

    init(_ service: TestService) throws {
        key = try #require(service.stores.configuration.signingKeys.signer(for: .rs256, at: service.clock.seconds))
        cookieKey = try #require(service.stores.configuration.cookieKeys.signer(for: .rs256, at: service.clock.seconds))
        now = Double(service.clock.seconds)
    }

    func idTokens(like good: String, cookie: String) throws -> [Case] {
        let claims = Reply.claims(of: good)
        let sign: (JSON) throws -> String = { try key.token(of: Array($0.text.utf8)) }
        let other = try SigningKey.generate(.rs256, notBefore: 0, notAfter: Int64(now) + 86_400)
        return try changes(claims, sign)
            + [
                Case("of a sign-in to come", sign(claims.merging(["auth_time": .number(now + 3600)])), passes: false),
                Case("by an unknown key", other.token(of: Array(claims.text.utf8)), passes: false),
                Case("a session cookie", cookie, passes: false),
            ] + signatures(good, claims, key)
    }

    func cookies(like good: String) throws -> [Case] {
        let claims = Reply.claims(of: good)
        return try changes(claims) { try cookieKey.cookie(of: Array($0.text.utf8)) }
            + [Case("by the key of ID tokens", key.cookie(of: Array(claims.text.utf8)), passes: false)]
            + signatures(good, claims, cookieKey)
    }

    /// Signed as they should be.
    private func changes(_ claims: JSON, _ sign: (JSON) throws -> String) throws -> [Case] {
        let issuer = claims["iss"]?.string ?? ""
        let project = claims["aud"]?.string ?? ""
        let ofOther = issuer.replacing(project, with: "other-project")
        return try [
            ("expired", ["iat": .number(now - 7200), "auth_time": .number(now - 7200), "exp": .number(now - 3600)]),
            ("of another audience", ["aud": "other-project"]),
            ("of another project", ["iss": .string(ofOther), "aud": "other-project"]),
            ("by another issuer", ["iss": .string(ofOther)]),
            ("by an issuer with a slash", ["iss": .string(issuer + "/")]),
            ("issued in the future", ["iat": .number(now + 3600), "exp": .number(now + 7200)]),
            ("of nobody", ["sub": ""]), ("without a subject", ["sub": nil]), ("without an end", ["exp": nil]),
        ].map { (name: String, change: JSON) in Case(name, try sign(claims.merging(change)), passes: false) }
    }

    /// Not signed as they should be.
    private func signatures(_ good: String, _ claims: JSON, _ key: SigningKey) throws -> [Case] {
        let parts = good.split(separator: ".").map { String($0) }
        let grace = claims.merging(["sub": "grace", "user_id": "grace"])
        func header(_ algorithm: String) -> JSON { ["alg": .string(algorithm), "kid": .string(key.kid), "typ": "JWT"] }
        func unsigned(_ algorithm: String) -> String {
            [header(algorithm), grace].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        }
        let lines = Data(key.publicKeyDER).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let publicKey = "-----BEGIN PUBLIC KEY-----\n\(lines)\n-----END PUBLIC KEY-----\n"
        let hmac = HMAC<SHA256>.authenticationCode(
            for: Data(unsigned("HS256").utf8),
            using: SymmetricKey(data: Data(publicKey.utf8))
        )
        return [
            Case(
                "with another payload",
                "\(parts[0]).\(unsigned("RS256").split(separator: ".")[1]).\(parts[2])",
                passes: false
            ),
            Case("with another signature", "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))", passes: false),
            Case("without a signature", "\(parts[0]).\(parts[1]).", passes: false),
            Case("alg none", unsigned("none") + ".", passes: false),
            Case("HS256 by the public key", unsigned("HS256") + "." + Base64URL.encode(Array(hmac)), passes: false),
        ]
    }
}
