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

@Suite("Providers that are slow, broken or hostile", .database, .testProvider)
struct ProviderFaultTests {
    typealias Kind = ProviderScene.Kind

    // MARK: The way to the token endpoint

    static let transport: [FaultCase] = [
        FaultCase("reset before the answer", .reset, Messages.providerDown),
        FaultCase("reset in the body", .resetInBody, Messages.providerDown),
        FaultCase("500", .status(500), Messages.providerDown),
        FaultCase("502", .status(502), Messages.providerDown),
        FaultCase("503", .status(503, headers: [("Retry-After", "1")]), Messages.providerDown),
        FaultCase("504", .status(504), Messages.providerDown),
        FaultCase("429", .status(429, headers: [("Retry-After", "0")]), Messages.providerDown),
        FaultCase("redirect on the same host", .redirect(to: "/token"), Messages.providerDown),
        FaultCase("redirect to another host", .redirect(to: "http://127.0.0.2:1/token"), Messages.providerDown),
        FaultCase("redirect that repeats the request", .redirect(to: "/token", status: 307), Messages.providerDown),
        FaultCase("redirect without a place", .status(302), Messages.providerDown),
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
        FaultCase("10 MB", .body([UInt8](repeating: 0x20, count: 10 << 20)), Messages.providerDown),
        FaultCase("deep nesting", .body([UInt8](repeating: UInt8(ascii: "["), count: 100_000)), Messages.invalidAnswer),
        FaultCase("compressed", .headers([("Content-Encoding", "gzip")]), Messages.providerDown),
        FaultCase("another content type", .contentType("text/plain"), Messages.invalidAnswer),
    ]

    @Test("4.1: a broken way to the token endpoint signs nobody in", arguments: [Kind.oidc, .oauth2], transport)
    func transportFaults(_ kind: Kind, _ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .token, kind)
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
            let message = kind == .oidc && endpoint == .userinfo ? nil : Messages.providerDown
            try await ProviderScene.meets(FaultCase("\(fault)", fault, message), at: endpoint, kind, options)
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
            try await scene.refuses(Messages.providerDown) { try await scene.finish(arrival) }
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
            "INVALID_CONFIG : invalid_scope: sdct-r  X: y: z"
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
        try await ProviderScene.meets(test, at: .token, kind)
    }

    @Test("4.3: OpenID needs an ID token, plain OAuth does not look at one")
    func idTokenPresence() async throws {
        let cases: [(FaultCase, Kind)] = [
            (FaultCase("none", .members(remove: ["id_token"]), Messages.invalidAnswer), .oidc),
            (FaultCase("empty", .members(set: ["id_token": ""]), Messages.invalidAnswer), .oidc),
            (FaultCase("unasked", .members(set: ["id_token": "junk"]), nil), .oauth2),
        ]
        for (test, kind) in cases { try await ProviderScene.meets(test, at: .token, kind) }
    }

    @Test(
        "4.3, R-48: a client secret that was rotated is used from then on, and the old one is an admin's matter",
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
        try await ProviderScene.meets(test, at: .userinfo, .oidc)
    }

    @Test(
        "4.5: the profile of a plain OAuth provider is the proof",
        arguments: [
            FaultCase("401", .status(401), Messages.accessTokenRejected),
            FaultCase("403", .status(403), Messages.accessTokenRejected),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("429", .status(429), Messages.providerDown),
            FaultCase("reset", .reset, Messages.providerDown),
            FaultCase("redirect", .redirect(to: "/elsewhere"), Messages.providerDown),
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
            FaultCase("another content type", .contentType("text/html"), Messages.invalidAnswer),
            FaultCase("id twice", .body(Array(#"{"id":"1","id":"2"}"#.utf8)), Messages.invalidAnswer),
            FaultCase("cut", .body(Array(#"{"id":"1""#.utf8)), Messages.invalidAnswer),
            FaultCase("huge", .body([UInt8](repeating: 0x20, count: 1 << 20)), Messages.providerDown),
            FaultCase("no address", .members(remove: ["email"]), nil),
        ]
    )
    func requiredProfile(_ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .userinfo, .oauth2)
        guard test.name != "no address" else { return }
        try await ProviderScene.meets(test, at: .userinfo, .github)
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
