import Development
import Domain
import Foundation
import InMemoryLogging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Requests that are wrong", .database)
struct BadRequestTests {
    static let operations = [
        "accounts:signInWithIdp", "accounts:createAuthUri", "accounts:lookup", "accounts:update", "accounts:delete",
        "accounts:signUp", "accounts:signInWithPassword", "accounts:signOut", "accounts:listSessions",
    ]

    @Test("a body that cannot be read is refused by every operation, in envelope C", arguments: operations)
    func unreadable(_ operation: String) async throws {
        try await SignedUp.run { scene in
            let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
            for body in [
                "{", #"{"email":"a"#, "[]", "1", #""text""#, "null", "{}{}", #"{"idToken":"a","idToken":"b"}"#,
                #"{"email":"a\u0000@example.com"}"#, #"{"x":"\ud800"}"#, "{\"x\":\"\u{1}\"}", #"{"x":01}"#,
                #"{"x":\#(deep)}"#,
                #"{'x':1}"#, #"{"x":1,}"#, "\u{feff}{}",
            ] {
                let reply = try await scene.refuses { try await scene.post(operation, body) }
                #expect(reply["error"]?["status"] == "INVALID_ARGUMENT", "\(body)")
                let violation = reply["error"]?["details"]?[0]
                #expect(violation?["@type"] == "type.googleapis.com/google.rpc.BadRequest")
                #expect(violation?["fieldViolations"]?[0]?["description"]?.string == reply.error)
            }
            for bytes in [[0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d], [0xff, 0xfe, 0x7b, 0x00], [0x00]] as [[UInt8]] {
                try await scene.refuses {
                    try await scene.service.send("POST", "/v1/\(operation)?key=\(scene.service.apiKey)", body: bytes)
                }
            }
        }
    }

    @Test(
        "values of the wrong type are named by their place",
        arguments: [
            ("accounts:signUp", #"{"email":1}"#, "Invalid value at 'email' (TYPE_STRING), 1"),
            ("accounts:signUp", #"{"password":["x"]}"#, #"Invalid value at 'password' (TYPE_STRING), ["x"]"#),
            ("accounts:signInWithPassword", #"{"email":{"a":1}}"#, #"Invalid value at 'email' (TYPE_STRING), {"a":1}"#),
            ("accounts:signInWithIdp", #"{"autoCreate":"yes"}"#, #"Invalid value at 'auto_create' (TYPE_BOOL), "yes""#),
            ("accounts:signInWithIdp", #"{"requestUri":true}"#, "Invalid value at 'request_uri' (TYPE_STRING), true"),
            ("accounts:lookup", #"{"idToken":[]}"#, "Invalid value at 'id_token' (TYPE_STRING), []"),
            (
                "accounts:createAuthUri",
                #"{"providerId":"oidc.x","continueUri":"http://localhost","customParameter":[]}"#,
                "Invalid value at 'custom_parameter' (TYPE_MESSAGE), []"
            ),
        ]
    )
    func wrongTypes(operation: String, body: String, message: String) async throws {
        try await SignedUp.run { scene in
            let reply = try await scene.refuses { try await scene.post(operation, body) }
            #expect(reply.error == message)
        }
    }

    @Test("unknown members are ignored, null is an absent member, and both spellings are one member")
    func lenience() async throws {
        try await SignedUp.run { scene in
            let email = SignedUp.email
            for body in [
                #"{"email":"\#(email)","password":"\#(SignedUp.password)","unknown":{"a":[1]},"returnSecureToken":true}"#,
                #"{"email":"\#(email)","password":"\#(SignedUp.password)","tenantId":null,"captchaResponse":null}"#,
                #"{"email":"\#(email.uppercased())","password":"\#(SignedUp.password)","return_secure_token":true}"#,
            ] {
                #expect(try await scene.post("accounts:signInWithPassword", body).status == 200, "\(body)")
            }
            try await scene.refuses { try await scene.post("accounts:lookup", #"{"idToken":"a","id_token":"b"}"#) }
        }
    }

    @Test("128 KiB is the limit of a body without an admin's credential", arguments: operations)
    func largeBodies(_ operation: String) async throws {
        try await SignedUp.run { scene in
            let large = #"{"x":""# + String(repeating: "a", count: 128 << 10) + #""}"#
            let reply = try await scene.service.post("/v1/\(operation)?key=\(scene.service.apiKey)", text: large)
            #expect(reply.status == 413, "\(reply)")
            #expect(reply.error == "Request payload size exceeds the limit: 131072 bytes.")
            let room = (128 << 10) - #"{"x":""}"#.utf8.count
            let fits = #"{"x":""# + String(repeating: "a", count: room) + #""}"#
            let small = try await scene.post(operation, fits)
            #expect(small.status != 413, "\(small)")
        }
    }
}
