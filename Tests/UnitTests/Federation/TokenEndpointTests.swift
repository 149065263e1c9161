import Domain
import Federation
import Foundation
import Projects
import StrictJSON
import Testing
import TestKit

@Suite struct TokenEndpointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reply: ScriptedServer.Reply
        var expected: FederationError

        init(_ name: String, _ reply: ScriptedServer.Reply, _ expected: FederationError) {
            testDescription = name
            self.reply = reply
            self.expected = expected
        }
    }

    /// Answers that end a sign-in, for a provider of plain OAuth 2.0.
    static let faults: [Case] = [
        Case("no access token", .json(#"{"token_type":"bearer"}"#), .invalidAnswer(.missingAccessToken)),
        Case("empty access token", .json(#"{"access_token":""}"#), .invalidAnswer(.missingAccessToken)),
        Case("access token is null", .json(#"{"access_token":null}"#), .invalidAnswer(.missingAccessToken)),
        Case("access token is a number", .json(#"{"access_token":1}"#), .invalidAnswer(.missingAccessToken)),
        Case(
            "access token with a line break",
            .json(#"{"access_token":"a\r\nX-Evil: 1"}"#),
            .invalidAnswer(.missingAccessToken)
        ),
        Case("error with status 200", .json(#"{"error":"bad_verification_code"}"#), rejected("bad_verification_code")),
        Case(
            "error beside a token",
            .json(#"{"access_token":"a","error":"invalid_grant"}"#),
            rejected("invalid_grant")
        ),
        Case("error as a form with status 200", form("error=bad_verification_code"), rejected("bad_verification_code")),
        Case("used code", .json(#"{"error":"invalid_grant"}"#, status: 400), rejected("invalid_grant")),
        Case("nested error", .json(#"{"error":{"message":"x","code":100}}"#, status: 400), rejected("100")),
        Case(
            "client refused",
            .json(#"{"error":"invalid_client"}"#, status: 401),
            .clientRejected(error: "invalid_client")
        ),
        Case(
            "client refused with status 200",
            .json(#"{"error":"incorrect_client_credentials"}"#),
            .clientRejected(error: "incorrect_client_credentials")
        ),
        Case(
            "401 without a body",
            .status(401, headers: [("www-authenticate", "Basic realm=\"x\"")]),
            .clientRejected(error: "http_401")
        ),
        Case(
            "scope refused",
            .json(#"{"error":"invalid_scope","error_description":"no"}"#, status: 400),
            .scopeRefused(error: "invalid_scope", description: "no")
        ),
        Case(
            "unknown error",
            .json(#"{"error":"AADSTS50011"}"#, status: 400),
            .providerError(error: "AADSTS50011", description: nil)
        ),
        Case(
            "XML error",
            .text("<error>invalid_grant</error>", type: "text/xml", status: 400),
            .invalidAnswer(.refused)
        ),
        Case("400 without a body", .status(400), .invalidAnswer(.refused)),
        Case("403", .json("{}", status: 403), .invalidAnswer(.refused)),
        Case("token type mac", .json(#"{"access_token":"a","token_type":"mac"}"#), .invalidAnswer(.tokenType)),
        Case("token type is a list", .json(#"{"access_token":"a","token_type":[]}"#), .invalidAnswer(.tokenType)),
    ]

    /// What goes wrong on the way, whatever was asked.
    static let transport: [Case] = [
        Case("hangs up", .hangUp, .unavailable(.unreachable)),
        Case("ends within the head", .raw("HTTP/1.1 200 OK\r\ncontent-le"), .unavailable(.unreachable)),
        Case(
            "ends within the body",
            .raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"access"),
            .unavailable(.unreachable)
        ),
        Case("no HTTP", .raw("SSH-2.0-OpenSSH_9\r\n\r\n"), .unavailable(.malformed)),
        Case("never answers", .stall(), .unavailable(.timedOut)),
        Case("stops within the head", .stall("HTTP/1.1 200 OK\r\n"), .unavailable(.timedOut)),
        Case(
            "stops within the body",
            .stall("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
            .unavailable(.timedOut)
        ),
        Case("500", .status(500), .unavailable(.serverError)),
        Case("502 with HTML", .text("<html>", type: "text/html", status: 502), .unavailable(.serverError)),
        Case("503", .status(503, headers: [("retry-after", "1")]), .unavailable(.serverError)),
        Case("504", .status(504), .unavailable(.serverError)),
        Case("429", .json(#"{"error":"slow_down"}"#, status: 429), .unavailable(.throttled)),
        Case("301", .status(301, headers: [("location", "/elsewhere")]), .unavailable(.redirect)),
        Case(
            "307 to metadata",
            .status(307, headers: [("location", "http://169.254.169.254/")]),
            .unavailable(.redirect)
        ),
        Case("empty body", .answer(body: []), .invalidAnswer(.notUnderstood)),
        Case("HTML", .text("<html><body>hello</body></html>", type: "text/html"), .invalidAnswer(.notUnderstood)),
        Case("truncated JSON", .json(#"{"access_token":"a""#), .invalidAnswer(.notUnderstood)),
        Case("JSON array", .json(#"[{"access_token":"a"}]"#), .invalidAnswer(.notUnderstood)),
        Case("duplicate members", .json(#"{"access_token":"a","access_token":"b"}"#), .invalidAnswer(.notUnderstood)),
        Case("duplicate fields", form("access_token=a&access_token=b"), .invalidAnswer(.notUnderstood)),
        Case("byte order mark", .json("\u{feff}{\"access_token\":\"a\"}"), .invalidAnswer(.notUnderstood)),
        Case(
            "invalid UTF-8",
            .answer(body: Array(#"{"access_token":""#.utf8) + [0xff] + Array("\"}".utf8)),
            .invalidAnswer(.notUnderstood)
        ),
        Case(
            "deep nesting",
            .json(String(repeating: "{\"a\":", count: 5_000) + "1" + String(repeating: "}", count: 5_000)),
            .invalidAnswer(.notUnderstood)
        ),
        Case(
            "huge body",
            .json("{\"access_token\":\"" + String(repeating: "a", count: 300_000)),
            .unavailable(.tooLarge)
        ),
        Case(
            "huge chunked body",
            // Whoever hangs up may be noticed before what they sent is read.
            .stall(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n80000\r\n"
                    + String(repeating: "a", count: 0x80000)
            ),
            .unavailable(.tooLarge)
        ),
        Case(
            "compressed",
            .json("{}", headers: [("content-encoding", "gzip")]),
            .unavailable(.malformed)
        ),
    ]

    private static func rejected(_ error: String) -> FederationError { .codeRejected(error: error) }
    private static func form(_ text: String) -> ScriptedServer.Reply {
        .text(text, type: "application/x-www-form-urlencoded")
    }

    @Test("R-59: an answer without a usable access token is an error of its own kind", arguments: faults)
    func refuses(_ item: Case) async throws {
        try await refuse(item)
    }

    @Test("a broken way to the token endpoint is named, and the code is sent once", arguments: transport)
    func survives(_ item: Case) async throws {
        try await refuse(item)
    }

    private func refuse(_ item: Case) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2()
            let request = try await world.start(configuration)
            world.server.on("/token", item.reply)
            async let hurry: Void? =
                item.expected == .unavailable(.timedOut) ? world.timeRunsOut(at: "/token") : nil
            await #expect(throws: item.expected) { try await world.finish(request, configuration) }
            _ = try await hurry
            #expect(world.server.requests.map(\.path) == ["/token"])
        }
    }

    @Test func namesAProviderThatNobodyAnswersFor() async throws {
        try await FederationWorld.run { world in
            // Bound and closed again: nobody listens there.
            let port = try await ScriptedServer.run { $0.port }
            var definition = world.oauth2()
            definition.overrides = """
                {"endpoints":{"authorization":"http://127.0.0.1:\(port)/a","token":"http://127.0.0.1:\(port)/t"},
                 "profile":[{"url":"http://127.0.0.1:\(port)/p"}]}
                """
            let request = try await world.start(definition)
            await #expect(throws: FederationError.unavailable(.unreachable)) {
                try await world.finish(request, definition)
            }
        }
    }

    @Test(
        arguments: [
            (#"{"access_token":"a","expires_in":"3600","token_type":"BEARER"}"#, 3600),
            (#"{"access_token":"a","expires_in":3600.0,"token_type":"bearer"}"#, 3600),
            (#"{"access_token":"a"}"#, nil), (#"{"access_token":"a","expires_in":-5}"#, nil),
            (#"{"access_token":"a","expires_in":1e300}"#, nil), (#"{"access_token":"a","expires_in":"soon"}"#, nil),
            ("access_token=a&expires_in=3600&token_type=bearer", 3600), ("  {\"access_token\":\"a\"}", nil),
        ] as [(String, Int?)]
    )
    func readsTheAnswersThatProvidersGive(_ body: String, _ expiresIn: Int?) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2()
            let request = try await world.start(configuration)
            // JSON has to say so; a form may be called anything.
            world.server.on("/token", .text(body, type: body.contains("{") ? "application/json" : "text/plain"))
            world.server.on("/profile", .json(#"{"id":"u-1"}"#))
            let credential = try await world.finish(request, configuration)
            #expect(credential.tokens.accessToken == "a")
            #expect(credential.tokens.expiresIn == expiresIn)
        }
    }

    @Test(
        arguments: [
            (#""read,write""#, ",", ["read", "write"]), (#""read write""#, ",", ["read", "write"]), (#""""#, " ", []),
            (#"["read"]"#, " ", ["read"]), (nil, " ", ["asked"]),
        ] as [(String?, String, [String])]
    )
    func keepsTheScopesThatWereGranted(_ scope: String?, _ separator: String, _ expected: [String]) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2(#""scopes":{"default":["asked"],"answerSeparator":"\#(separator)"}"#)
            let request = try await world.start(configuration)
            world.server.on("/token", .json(#"{"access_token":"a"\#(scope.map { ",\"scope\":" + $0 } ?? "")}"#))
            world.server.on("/profile", .json(#"{"id":"u-1"}"#))
            #expect(try await world.finish(request, configuration).tokens.scopes == expected)
        }
    }

    @Test func readsErrorsWhereTheDefinitionSaysTheyAre() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2(#""token":{"errorInOK":["error","errorCode"],"okMember":"ok"}"#)
            let request = try await world.start(configuration)
            for (body, error) in [
                (#"{"ok":false,"error":"invalid_code"}"#, FederationError.codeRejected(error: "invalid_code")),
                (#"{"ok":false,"access_token":"a"}"#, .providerError(error: "not_ok", description: nil)),
                (#"{"ok":true,"access_token":"a","errorCode":40}"#, .providerError(error: "40", description: nil)),
            ] {
                world.server.on("/token", .json(body))
                await #expect(throws: error) { try await world.finish(request, configuration) }
            }
        }
    }

    @Test func anOpenIDProviderOwesAnIDToken() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration)
            world.server.on("/token", .json(#"{"access_token":"a"}"#))
            await #expect(throws: FederationError.invalidAnswer(.missingIDToken)) {
                try await world.finish(request, configuration)
            }
        }
    }

    @Test func aPlainProvidersIDTokenIsOverlooked() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2()
            let request = try await world.start(configuration)
            world.server.on("/token", .json(#"{"access_token":"a","id_token":"x.y.z"}"#))
            world.server.on("/profile", .json(#"{"id":"u-1"}"#))
            #expect(try await world.finish(request, configuration).tokens.idToken == nil)
        }
    }

}
