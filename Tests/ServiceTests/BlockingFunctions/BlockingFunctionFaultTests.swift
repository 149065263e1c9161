import Development
import Domain
import Foundation
import InMemoryLogging
import Projects
import Storage
import Testing
import TestKit

/// Functions that do not answer as they should: nobody passes.
@Suite("Blocking functions: faults", .database, .testProvider)
struct BlockingFunctionFaultTests {
    /// What no function answers, and what the app is told of it.
    private static let faults: [(status: Int, body: String, text: String)] = [
        (500, "", "HTTP Cloud Function returned an error: 500"),
        (404, "<html>not here</html>", "HTTP Cloud Function returned an error: 404"),
        (302, "", "HTTP Cloud Function returned an error: 302"),
        (200, "yes", invalid), (200, "[]", invalid), (200, #"{"userRecord": true}"#, invalid),
        (200, #"{"userRecord": {"displayName": "no mask"}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "disabled", "disabled": "true"}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "disabled"}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "displayName", "displayName": 1}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "displayName", "displayName": "a\u0000b"}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "customClaims", "customClaims": {"iss": "x"}}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "customClaims", "customClaims": []}}"#, invalid),
        (200, #"{"userRecord": {"updateMask": "sessionClaims", "sessionClaims": {"firebase": {}}}}"#, invalid),
        (200, claims(of: 1_001), invalid),
        (200, #"{"userRecord": {"updateMask": "", "updateMask": "disabled"}}"#, invalid),
        (200, #"{"x": ""# + String(repeating: "x", count: 70_000) + "\"}", "The function could not be reached."),
    ]
    private static let invalid = "The function's response is not valid."

    private static func claims(of length: Int) -> String {
        #"{"userRecord": {"updateMask": "sessionClaims", "sessionClaims": {"a": ""#
            + String(repeating: "x", count: length) + "\"}}}"
    }

    @Test("T-C10: the JWT has the audience that firebase-functions expects, and is no token of a user or admin for it")
    func audience() async throws {
        try await FunctionScene.run { scene in
            let service = scene.service
            func set(_ audience: String) async throws -> Reply {
                let triggers: JSON = ["beforeSignIn": ["audience": .string(audience)]]
                return try await service.admin(
                    "config?updateMask=blockingFunctions.triggers.beforeSignIn.audience",
                    ["blockingFunctions": ["triggers": triggers]],
                    method: "PATCH",
                    version: "v2"
                )
            }
            for wrong in [
                service.project.id.rawValue, "123-x.apps.googleusercontent.com", "http://a.run.app/", "a/b", "https://",
                "a.run.app/ b", "https://\(String(repeating: "a", count: 600)).run.app/",
            ] {
                #expect(try await set(wrong).status == 400, "\(wrong)")
            }
            _ = try await service.signUp("ada@example.com")
            for audience in ["us-central1-my-project.cloudfunctions.net/f", "https://f-abc.a.run.app/", ""] {
                try await set(audience).expectOK()
                _ = try await service.signInWithPassword("ada@example.com")
                let request = try #require(scene.receiver.received.last { $0.path == "/sign-in" })
                let jwt = try #require(request.json["data"]?["jwt"]?.string)
                let expected = audience.isEmpty ? scene.receiver.baseURL + "/sign-in" : audience
                #expect(Reply.claims(of: jwt)["aud"]?.string == expected)
                try await service.lookUp(jwt).expectRefused("INVALID_ID_TOKEN")
                let admin = try await service.send(
                    "GET",
                    "/v1/projects/\(service.project.id)/accounts:batchGet",
                    headers: [("Authorization", "Bearer \(jwt)")]
                )
                #expect(admin.status == 401, "\(admin)")
            }
        }
    }

    @Test("any other response of a function refuses, and the function is called once")
    func failsClosed() async throws {
        try await FunctionScene.run { scene in
            _ = try await scene.service.signUp("ada@example.com")
            let before = try await scene.written()
            for fault in Self.faults {
                let asked = scene.asked.count
                scene.receiver.answer { _ in (fault.status, fault.body) }
                try await scene.service.signInWithPassword("ada@example.com")
                    .expectRefused("BLOCKING_FUNCTION_ERROR_RESPONSE : \(fault.text)")
                #expect(scene.asked.count == asked + 1, "\(fault)")
            }
            #expect(try await scene.written() == before)
            #expect(scene.service.logs.entries.contains { "\($0.message)".contains("refused or failed") })
        }
    }

    @Test("a function that does not answer in time, or is not there, refuses")
    func timesOut() async throws {
        try await FunctionScene.run { scene in
            _ = try await scene.service.signUp("ada@example.com")
            let gate = TestGate()
            scene.receiver.answer { _ in
                await gate.pass()
                return (200, "{}")
            }
            async let late = scene.service.signInWithPassword("ada@example.com")
            await gate.reached()
            #expect(try await scene.time.runOut() == [.seconds(7)])
            try await late
                .expectRefused("BLOCKING_FUNCTION_ERROR_RESPONSE : The function did not respond in time.")
            gate.open()
            let reply = try await scene.service.admin(
                "config?updateMask=blockingFunctions.triggers.beforeSignIn",
                ["blockingFunctions": ["triggers": ["beforeSignIn": ["functionUri": "http://127.0.0.1:1/"]]]],
                method: "PATCH",
                version: "v2"
            )
            reply.expectOK()
            try await scene.service.signInWithPassword("ada@example.com")
                .expectRefused("BLOCKING_FUNCTION_ERROR_RESPONSE : The function could not be reached.")
            // What came of each call, and how long it took.
            scene.receiver.answer { request in request.path == "/create" ? (403, "{}") : (200, "[]") }
            #expect(try await scene.service.signUp("grace@example.com").status == 400)
            let page = try await MetricsPage(scene.service)
            func calls(_ event: String, _ outcome: String, _ part: String = "count") -> Double? {
                let name = "identity_function_request_duration_seconds_\(part)"
                return page.values["\(name){event=\"\(event)\",outcome=\"\(outcome)\"}"]
            }
            #expect(calls("beforeCreate", "ok") == 1 && calls("beforeSignIn", "ok") == 1)
            #expect(calls("beforeSignIn", "timed_out") == 1 && calls("beforeSignIn", "unreachable") == 1)
            #expect((calls("beforeSignIn", "timed_out", "sum") ?? 0) > 0)
            #expect(calls("beforeCreate", "refused") == 1 && calls("beforeSignIn", "refused") == 0)
        }
    }

    @Test(
        "refuses addresses that must not be contacted",
        arguments: [
            "http://functions.example/", "ftp://functions.example/", "nowhere", "https://a:b@functions.example/",
        ]
    )
    func refusesAddresses(_ url: String) async throws {
        try await TestService.run { service in
            let reply = try await service.admin(
                "config?updateMask=blockingFunctions",
                ["blockingFunctions": ["triggers": ["beforeCreate": ["functionUri": .string(url)]]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(reply.code == "INVALID_CONFIG", "\(reply)")
        }
    }
}
