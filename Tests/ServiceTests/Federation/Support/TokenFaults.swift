import Development
import StrictJSON
import TestKit

/// What goes wrong at a token endpoint, and what becomes of the sign-in at most providers.
enum TokenFaults {
    /// The way to it (4.1).
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

    /// Its answer (4.3).
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
            .answer(.init(400, .form(["error": "bad_verification_code"]))),
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

    /// As a kind of provider has them.
    static func all(_ kind: ProviderScene.Kind) -> [FaultCase] {
        // OAuth 1.0a answers with a form of whatever type, and has errors of its own (TwitterTests).
        guard kind.usesCodes else {
            return transport.filter { $0.name != "another content type" }.map { test in
                var test = test
                if test.name == "deep nesting" { test.message = Messages.providerDown }
                return test
            }
        }
        return (transport + answers).map { test in
            var test = test
            // Whatever its status, an answer without `ok` is a refusal.
            if kind == .slack, test.name == "401 in words" { test.message = "INVALID_IDP_RESPONSE : not_ok" }
            return test
        }
    }
}
