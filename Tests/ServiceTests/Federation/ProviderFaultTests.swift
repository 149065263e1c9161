import Development
import Federation
import Foundation
import InMemoryLogging
import Linking
import Outbound
import Postgres
import Projects
import Storage
import TestKit
import Testing

/// A fault as a row of a table.
struct FaultCase: Sendable, CustomTestStringConvertible {
    var name: String
    var fault: ProviderFault
    /// What the sign-in answers; nil when it succeeds.
    var message: String?

    init(_ name: String, _ fault: ProviderFault, _ message: String?) {
        self.name = name
        self.fault = fault
        self.message = message
    }

    var testDescription: String { name }
}

@Suite("Providers that are slow, broken or hostile", .database, .testProvider)
struct ProviderFaultTests {
    typealias Kind = ProviderScene.Kind

    /// Runs one sign-in into a fault, then another one without it.
    private func meets(
        _ test: FaultCase,
        at endpoint: ProviderEndpoint,
        _ kind: Kind,
        _ options: ProviderScene.Options = .init(),
        calls: Int? = 1
    ) async throws {
        try await ProviderScene.run(kind, options) { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(test.fault, at: endpoint, call: calls)
            if let message = test.message {
                try await scene.refuses(message) { try await scene.finish(arrival) }
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            } else {
                let reply = try await scene.finish(arrival)
                #expect(reply.status == 200, "\(test.name): \(reply)")
            }
            #expect(scene.tenant.requests(.token).count == 1, "a code is sent once")
            scene.tenant.removeFaults()
            let next = try await scene.signIn()
            #expect(next.status == 200, "the service goes on: \(next)")
            #expect(try await scene.service.send("GET", "/readyz").status == 200)
        }
    }

    // MARK: The way to the token endpoint

    static let transport: [FaultCase] = [
        FaultCase("reset before the answer", .reset, Messages.unreachable),
        FaultCase("reset in the body", .resetInBody, Messages.unreachable),
        FaultCase("500", .status(500), Messages.unreachable),
        FaultCase("502", .status(502), Messages.unreachable),
        FaultCase("503", .status(503, headers: [("Retry-After", "1")]), Messages.unreachable),
        FaultCase("504", .status(504), Messages.unreachable),
        FaultCase("429", .status(429, headers: [("Retry-After", "0")]), Messages.unreachable),
        FaultCase("redirect on the same host", .redirect(to: "/token"), Messages.unreachable),
        FaultCase("redirect to another host", .redirect(to: "http://127.0.0.2:1/token"), Messages.unreachable),
        FaultCase("redirect that repeats the request", .redirect(to: "/token", status: 307), Messages.unreachable),
        FaultCase("redirect without a place", .status(302), Messages.unreachable),
        FaultCase("404", .status(404), Messages.invalidAnswer),
        FaultCase("empty", .body([]), Messages.invalidAnswer),
        FaultCase("HTML", .body(Array("<html>Sign in</html>".utf8), contentType: "text/html"), Messages.invalidAnswer),
        FaultCase("cut JSON", .body(Array(#"{"access_token":"a""#.utf8)), Messages.invalidAnswer),
        FaultCase("a list", .body(Array(#"[{"access_token":"a"}]"#.utf8)), Messages.invalidAnswer),
        FaultCase(
            "a member twice",
            .body(Array(#"{"access_token":"a","access_token":"b"}"#.utf8)),
            Messages.invalidAnswer
        ),
        FaultCase(
            "byte order mark",
            .body([0xef, 0xbb, 0xbf] + Array(#"{"access_token":"a"}"#.utf8)),
            Messages.invalidAnswer
        ),
        FaultCase(
            "bad UTF-8",
            .body(Array(#"{"access_token":""#.utf8) + [0xff] + Array(#""}"#.utf8)),
            Messages.invalidAnswer
        ),
        FaultCase("10 MB", .body([UInt8](repeating: 0x20, count: 10 << 20)), Messages.unreachable),
        FaultCase("deep nesting", .body([UInt8](repeating: UInt8(ascii: "["), count: 100_000)), Messages.invalidAnswer),
        FaultCase("compressed", .headers([("Content-Encoding", "gzip")]), Messages.unreachable),
        FaultCase("another content type", .contentType("text/plain"), nil),
    ]

    @Test("4.1: a broken way to the token endpoint signs nobody in", arguments: [Kind.oidc, .oauth2], transport)
    func transportFaults(_ kind: Kind, _ test: FaultCase) async throws {
        try await meets(test, at: .token, kind)
    }

    @Test(
        "4.1: a provider that stalls is left within the time limit",
        arguments: [Kind.oidc, .oauth2],
        [ProviderEndpoint.token, .userinfo]
    )
    func stalls(_ kind: Kind, _ endpoint: ProviderEndpoint) async throws {
        var options = ProviderScene.Options()
        options.service.outboundLimits.read = .milliseconds(700)
        options.service.outboundLimits.total = .milliseconds(1_500)
        for fault in [ProviderFault.held(TestGate()), .heldInBody(TestGate()), .endless] {
            // What sign-in can do without is done without.
            let message = kind == .oidc && endpoint == .userinfo ? nil : Messages.unreachable
            try await meets(FaultCase("\(fault)", fault, message), at: endpoint, kind, options)
        }
    }

    @Test("4.1: nobody listens", arguments: [Kind.oidc, .oauth2])
    func nobodyListens(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        let nowhere: TestJSON = ["token": "http://127.0.0.1:1/token"]
        options.definition = kind == .oidc ? ["endpoints": nowhere] : [:]
        try await ProviderScene.run(kind, options) { scene in
            if kind == .oauth2 {
                var configuration = scene.tenant.configuration(as: scene.provider)
                configuration.overrides = configuration.overrides?
                    .replacing(scene.tenant.url(.token) ?? "", with: "http://127.0.0.1:1/token")
                try await scene.service.stores.configuration.replaceProvider(
                    configuration,
                    in: Scope(project: scene.service.project.id)
                )
            }
            let arrival = try await scene.arrive()
            try await scene.refuses(Messages.unreachable) { try await scene.finish(arrival) }
        }
    }

    // MARK: The token endpoint's answer

    static let answers: [FaultCase] = [
        FaultCase("200 with an error", .body(Array(#"{"error":"invalid_grant"}"#.utf8)), Messages.usedCode),
        FaultCase(
            "400 with a nested error",
            .answer(.init(400, .json(["error": ["code": "invalid_grant"]]))),
            Messages.usedCode
        ),
        FaultCase(
            "401",
            .answer(.init(401, headers: [("WWW-Authenticate", "Basic")], .json(["error": "invalid_client"]))),
            Messages.clientRejected
        ),
        FaultCase("401 in words", .answer(.init(401, .text("no"))), Messages.clientRejected),
        FaultCase(
            "an error as a form",
            .answer(.init(400, .form([.init("error", "bad_verification_code")]))),
            Messages.usedCode
        ),
        FaultCase(
            "an error in XML",
            .answer(.init(400, .text("<error>invalid_grant</error>"))),
            Messages.invalidAnswer
        ),
        FaultCase(
            "a scope that is refused",
            .answer(.init(400, .json(["error": "invalid_scope", "error_description": "sdct-r\r\nX: y : z"]))),
            "INVALID_IDP_RESPONSE : invalid_scope: sdct-r  X: y: z"
        ),
        FaultCase(
            "a long strange error",
            .answer(.init(400, .json(["error": .string(String(repeating: "é<", count: 5_000))]))),
            "INVALID_IDP_RESPONSE : " + String(repeating: "___", count: 21) + "_"
        ),
        FaultCase("no access token", .members(remove: ["access_token"]), Messages.invalidAnswer),
        FaultCase("token type mac", .members(set: ["token_type": "mac"]), Messages.invalidAnswer),
        FaultCase("token type as a number", .members(set: ["token_type": 1]), Messages.invalidAnswer),
        FaultCase(
            "an access token that breaks a header",
            .members(set: ["access_token": "a\r\nX: y"]),
            Messages.invalidAnswer
        ),
        FaultCase("BEARER", .members(set: ["token_type": "BEARER"]), nil),
        FaultCase("no token type", .members(remove: ["token_type"]), nil),
        FaultCase("expires_in in digits", .members(set: ["expires_in": "3600"]), nil),
        FaultCase("no expires_in", .members(remove: ["expires_in"]), nil),
        FaultCase("expires_in that is no time", .members(set: ["expires_in": "soon"]), nil),
        FaultCase("a smaller scope", .members(set: ["scope": "openid"]), nil),
        FaultCase("a larger scope", .members(set: ["scope": "openid email profile admin"]), nil),
        FaultCase("further members", .members(set: ["secret_extra": ["a": 1]]), nil),
    ]

    @Test(
        "4.3: the token endpoint's answer is taken as it should be, or not at all",
        arguments: [Kind.oidc, .oauth2],
        answers
    )
    func answerFaults(_ kind: Kind, _ test: FaultCase) async throws {
        try await meets(test, at: .token, kind)
    }

    @Test("4.3: OpenID needs an ID token, plain OAuth does not look at one")
    func idTokenPresence() async throws {
        try await meets(FaultCase("none", .members(remove: ["id_token"]), Messages.invalidAnswer), at: .token, .oidc)
        try await meets(FaultCase("empty", .members(set: ["id_token": ""]), Messages.invalidAnswer), at: .token, .oidc)
        try await meets(FaultCase("unasked", .members(set: ["id_token": "junk"]), nil), at: .token, .oauth2)
    }

    @Test(
        "4.3: a client secret that was rotated is used from then on, and the old one is an admin's matter",
        arguments: [Kind.oidc, .oauth2]
    )
    func rotatedSecret(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await ProviderScene.run(kind, options) { scene in
            let session = try await scene.signIn()
            let open = try await scene.arrive()
            scene.tenant.addClient(secrets: ["the-new-secret"], redirects: .anyLocal)
            scene.secrets.add("the-new-secret")
            let stale = try await scene.arrive()
            try await scene.refuses(Messages.clientRejected) { try await scene.finish(stale) }
            let warnings = scene.service.logs.entries.map { "\($0.metadata)" }.filter {
                $0.contains("exchange.clientRejected")
            }
            #expect(!warnings.isEmpty, "the log says why")
            let patched = try await scene.service.admin(
                "oauthIdpConfigs/\(kind.rawValue)?updateMask=clientSecret",
                ["clientSecret": "the-new-secret"],
                method: "PATCH",
                version: "v2"
            )
            #expect(patched.status == 200, "\(patched)")
            #expect(try await scene.finish(open).status == 200, "also for a flow that was open")
            #expect(try await scene.service.refresh(session.refreshToken).status == 200)
        }
    }

    // MARK: The profile

    @Test(
        "4.5: user info of an OpenID provider is a supplement",
        arguments: [
            FaultCase("401", .status(401), nil), FaultCase("403", .status(403), nil),
            FaultCase("500", .status(500), nil),
            FaultCase("reset", .reset, nil),
            FaultCase("a JWT", .body(Array("eyJhbGciOiJub25lIn0.e30.".utf8), contentType: "application/jwt"), nil),
            FaultCase("a list", .body(Array("[]".utf8)), nil), FaultCase("redirect", .redirect(to: "/elsewhere"), nil),
            FaultCase("no address", .members(remove: ["email"]), nil),
            FaultCase("further members", .members(set: ["x": 1]), nil),
            FaultCase("huge", .body([UInt8](repeating: 0x20, count: 1 << 20)), nil),
            FaultCase("another subject", .members(set: ["sub": "eve"]), Messages.invalidAnswer),
            FaultCase("no subject", .members(remove: ["sub"]), Messages.invalidAnswer),
        ]
    )
    func optionalProfile(_ test: FaultCase) async throws {
        try await meets(test, at: .userinfo, .oidc)
    }

    @Test(
        "4.5: the profile of a plain OAuth provider is the proof",
        arguments: [
            FaultCase("401", .status(401), Messages.accessTokenRejected),
            FaultCase("403", .status(403), Messages.accessTokenRejected),
            FaultCase("500", .status(500), Messages.unreachable), FaultCase("429", .status(429), Messages.unreachable),
            FaultCase("reset", .reset, Messages.unreachable),
            FaultCase("redirect", .redirect(to: "/elsewhere"), Messages.unreachable),
            FaultCase("a list", .body(Array(#"[{"id":"1"}]"#.utf8)), Messages.invalidAnswer),
            FaultCase("no id", .members(remove: ["id"]), Messages.invalidAnswer),
            FaultCase("empty id", .members(set: ["id": ""]), Messages.invalidAnswer),
            FaultCase("id null", .members(set: ["id": nil]), Messages.invalidAnswer),
            FaultCase("id as an object", .members(set: ["id": ["a": 1]]), Messages.invalidAnswer),
            FaultCase("id as a flag", .members(set: ["id": true]), Messages.invalidAnswer),
            FaultCase(
                "long id",
                .members(set: ["id": .string(String(repeating: "1", count: 256))]),
                Messages.invalidAnswer
            ),
            FaultCase("id twice", .body(Array(#"{"id":"1","id":"2"}"#.utf8)), Messages.invalidAnswer),
            FaultCase("cut", .body(Array(#"{"id":"1""#.utf8)), Messages.invalidAnswer),
            FaultCase("huge", .body([UInt8](repeating: 0x20, count: 1 << 20)), Messages.unreachable),
            FaultCase("no address", .members(remove: ["email"]), nil),
        ]
    )
    func requiredProfile(_ test: FaultCase) async throws {
        try await meets(test, at: .userinfo, .oauth2)
        guard test.name != "no address" else { return }
        try await meets(test, at: .userinfo, .github)
    }

    @Test("4.5: GitHub's list of addresses may be missing, empty, or without a verified primary one")
    func githubEmails() async throws {
        for fault in [
            ProviderFault.status(403), .status(404), .reset, .body(Array("[]".utf8)), .body(Array("{}".utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":true,"verified":false}]"#.utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":false,"verified":true}]"#.utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":"true","verified":"true"}]"#.utf8)),
        ] {
            try await ProviderScene.run(.github) { scene in
                scene.tenant.addFault(fault, at: .emails)
                let reply = try await scene.signIn()
                #expect(reply.status == 200, "\(reply)")
                #expect(reply["email"] == nil)
                #expect(reply["emailVerified"] == false)
            }
        }
    }

    // MARK: Discovery and keys

    static let discovery: [FaultCase] = [
        FaultCase("reset", .reset, nil), FaultCase("404", .status(404), nil), FaultCase("500", .status(500), nil),
        FaultCase("redirect", .redirect(to: "/elsewhere"), nil), FaultCase("HTML", .body(Array("<html>".utf8)), nil),
        FaultCase("a list", .body(Array("[]".utf8)), nil),
        FaultCase("a member twice", .body(Array(#"{"issuer":"a","issuer":"b"}"#.utf8)), nil),
        FaultCase("huge", .body([UInt8](repeating: 0x20, count: 1 << 20)), nil),
        FaultCase("another issuer", .members(set: ["issuer": "https://evil.example"]), nil),
        FaultCase("no issuer", .members(remove: ["issuer"]), nil),
        FaultCase("an endpoint elsewhere", .members(set: ["token_endpoint": "https://evil.example/token"]), nil),
        FaultCase("keys elsewhere", .members(set: ["jwks_uri": "https://evil.example/keys"]), nil),
        FaultCase("http elsewhere", .members(set: ["authorization_endpoint": "http://evil.example/"]), nil),
        FaultCase("a script", .members(set: ["authorization_endpoint": "javascript:alert(1)"]), nil),
        FaultCase("no token endpoint", .members(remove: ["token_endpoint"]), nil),
        FaultCase("no authorization endpoint", .members(remove: ["authorization_endpoint"]), nil),
    ]

    @Test("4.5: without good discovery no flow begins", arguments: discovery)
    func discoveryFaults(_ test: FaultCase) async throws {
        try await ProviderScene.run(.oidc) { scene in
            scene.tenant.addFault(test.fault, at: .discovery, call: nil)
            let reply = try await scene.refuses(Messages.unreachable) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"]
                )
            }
            #expect(reply["authUri"] == nil)
            let token = try scene.tenant.mintIDToken(for: scene.ada)
            if test.name != "no token endpoint", test.name != "no authorization endpoint" {
                try await scene.refuses(Messages.unreachable) { try await scene.signIn(idToken: token) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("4.5: discovery and keys that were read go on serving while the provider's documents are away")
    func staleDocuments() async throws {
        try await ProviderScene.run(.oidc) { scene in
            #expect(try await scene.signIn().status == 200)
            scene.tenant.addFault(.status(503), at: .discovery, call: nil)
            scene.tenant.addFault(.status(503), at: .keys, call: nil)
            scene.service.clock.advance(by: 3_601)
            let now = scene.service.clock.seconds
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["iat": .integer(now), "exp": .integer(now + 600)])
            )
            #expect(try await scene.signIn(idToken: token).status == 200)
        }
    }

    @Test("4.5: keys that were never read cannot be done without")
    func noKeys() async throws {
        for fault in [ProviderFault.status(503), .reset, .body(Array("{}".utf8)), .body(Array(#"{"keys":{}}"#.utf8))] {
            try await meets(FaultCase("\(fault)", fault, Messages.unreachable), at: .keys, .oidc, calls: nil)
        }
        let empty = ProviderFault.body(Array(#"{"keys":[]}"#.utf8))
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(empty, at: .keys)
            try await scene.refuses(Messages.badSignature) { try await scene.finish(arrival) }
        }
    }

    @Test("4.5: keys of no use are passed over")
    func oddKeys() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let kid = try scene.tenant.signingKey().kid
            for jwk in [
                #"{"kty":"XYZ","kid":"x"}"#, "{}", "1", "null", #"{"kty":"RSA","kid":"y","n":"!!","e":"AQAB"}"#,
                #"{"kty":"oct","kid":"\#(kid)","k":"c2VjcmV0","alg":"HS256"}"#,
                #"{"kty":"RSA","use":"enc","kid":"z","n":"AQAB","e":"AQAB"}"#,
                #"{"kty":"RSA","kid":"p","n":"AQAB","e":"AQAB","d":"AQAB"}"#,
                #"{"kty":"EC","crv":"P-256","kid":"q","x":"AA","y":"AA"}"#,
            ] {
                try scene.tenant.addRawKey(jwk, first: true)
            }
            #expect(try await scene.signIn().status == 200)
        }
    }

    @Test("a slow provider holds up nobody who signs in elsewhere")
    func isolation() async throws {
        try await ProviderScene.run(.oauth2) { scene in
            let gate = TestGate()
            let waiting = try await scene.arrive()
            scene.tenant.addFault(.held(gate), at: .token)
            let other = try await TestProvider.tenant(.genericOIDC, name: "other")
            other.addClient(secrets: ["other-secret"], redirects: .anyLocal)
            other.everyLogin(other.addUser(TestUser("grace-1", email: "grace@example.com")))
            try await scene.service.configure(other.configuration(as: "oidc.other"))
            async let held = scene.finish(waiting)
            await gate.reached()
            let quick = try await scene.service.signIn(through: "oidc.other")
            #expect(quick.status == 200)
            gate.open()
            #expect(try await held.status == 200)
        }
    }
}
