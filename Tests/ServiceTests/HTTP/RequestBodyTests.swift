import HTTPTypes
import IdentityService
import NIOCore
import StrictJSON
import TestKit
import Testing

@Suite("Bodies and queries of requests")
struct RequestBodyTests {
    private let fixture: ServiceFixture
    private let key = "?key=\(ServiceFixture.key)"

    init() throws { fixture = try ServiceFixture() }

    @Test(
        "refuses bodies that cannot be read, in envelope C",
        arguments: [
            "{", "[]", "\"a\"", "null", #"{"idToken":"a","idToken":"b"}"#, #"{"idToken":"a\u0000"}"#, #"{"idToken":1}"#,
            #"{"idToken":{"a":1}}"#,
        ]
    )
    func refusesBodies(_ body: String) async throws {
        let answer = try await fixture.client.post("/v1/accounts:lookup\(key)", body)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["status"]?.text == "INVALID_ARGUMENT")
        #expect(answer.json["error"]?["errors"]?[0]?["reason"]?.text == "invalid")
        let violations = answer.json["error"]?["details"]?[0]?["fieldViolations"]
        #expect(violations?[0]?["description"]?.text == answer.message)
    }

    @Test("refuses bad UTF-8")
    func refusesBadText() async throws {
        let body = ByteBuffer(bytes: Array(#"{"idToken":""#.utf8) + [0xff] + Array(#""}"#.utf8))
        let answer = try await fixture.client.call(.post, "/v1/accounts:lookup\(key)", bytes: body)
        #expect(answer.status == 400)
    }

    @Test(
        "takes any content type, and none, for JSON",
        arguments: [
            nil, "application/json", "application/json; charset=utf-8", "text/plain", "nonsense",
        ] as [String?]
    )
    func takesContentTypes(_ type: String?) async throws {
        var headers = HTTPFields()
        headers[.contentType] = type
        let answer = try await fixture.client.call(.post, "/v1/accounts:lookup\(key)", headers: headers, body: "{}")
        #expect(answer.message == "MISSING_ID_TOKEN")
    }

    @Test(
        "refuses a coded body by name, at each route alike",
        arguments: ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip", "GZIP", "nonsense"]
    )
    func refusesCodings(_ coding: String) async throws {
        let paths = [
            "/v1/accounts:lookup\(key)", "/v1/token\(key)", "/v2/projects/p/config",
            "/v1/projects/p/accounts:batchCreate",
            "/p/oauth/token", "/p/oauth/register", "/p/oauth/par", "/v1/accounts:signInWithIdp\(key)",
        ]
        for path in paths {
            let method: HTTPRequest.Method = path.hasSuffix("config") ? .patch : .post
            let headers: HTTPFields = [.contentEncoding: coding]
            let answer = try await fixture.client.call(method, path, headers: headers, body: "{}")
            #expect(answer.status == 415, "\(path)")
            #expect(answer.headers[.acceptEncoding] == "identity", "\(path)")
            let words = answer.json["error"]?["message"]?.text ?? answer.json["error_description"]?.text ?? ""
            #expect(words.contains("Content-Encoding"), "\(path): \(answer)")
        }
    }

    @Test("reads a body that says it is not coded, and none of a GET", arguments: ["identity", "Identity", ""])
    func takesIdentity(_ coding: String) async throws {
        let headers: HTTPFields = [.contentEncoding: coding]
        let answer = try await fixture.client.call(.post, "/v1/accounts:lookup\(key)", headers: headers, body: "{}")
        #expect(answer.message == "MISSING_ID_TOKEN")
        let coded: HTTPFields = [.contentEncoding: "gzip"]
        try await fixture.client.call(.get, "/v1/projects\(key)", headers: coded).expectOK()
    }

    @Test("ignores unknown members and the body of a GET")
    func ignores() async throws {
        let answer = try await fixture.client.post("/v1/accounts:lookup\(key)", #"{"somethingNew":{"a":[1]}}"#)
        #expect(answer.message == "MISSING_ID_TOKEN")
        try await fixture.client.call(.get, "/v1/projects\(key)", body: "{nonsense").expectOK()
    }

    @Test(
        "checks the grant of the token endpoint, as form and as JSON",
        arguments: [
            ("", nil, "MISSING_GRANT_TYPE"), ("{}", nil, "MISSING_GRANT_TYPE"),
            ("grant_type=&refresh_token=x", "application/x-www-form-urlencoded", "MISSING_GRANT_TYPE"),
            ("grant_type=password", "application/x-www-form-urlencoded; charset=utf-8", "INVALID_GRANT_TYPE"),
            (#"{"grantType":"authorization_code","code":"x"}"#, "application/json", "INVALID_GRANT_TYPE"),
            ("grant_type=refresh_token", "application/x-www-form-urlencoded", "MISSING_REFRESH_TOKEN"),
            ("grant_type=refresh_token", nil, "MISSING_REFRESH_TOKEN"),
            (#"{"grant_type":"refresh_token","refresh_token":""}"#, nil, "MISSING_REFRESH_TOKEN"),
            (
                "grant%5Ftype=refresh_token&refresh_token=x", "application/x-www-form-urlencoded",
                "INVALID_REFRESH_TOKEN"
            ),
            (#"{"grantType":"refresh_token","refreshToken":"x"}"#, "application/json", "INVALID_REFRESH_TOKEN"),
        ] as [(String, String?, String)]
    )
    func grants(_ body: String, _ type: String?, _ message: String) async throws {
        var headers = HTTPFields()
        headers[.contentType] = type
        let answer = try await fixture.client.call(.post, "/v1/token\(key)", headers: headers, body: body)
        #expect(answer.status == 400)
        #expect(answer.message == message)
        #expect(answer.json["error"]?["errors"] == nil)
        #expect(answer.json["error"]?["status"]?.text == "INVALID_ARGUMENT")
    }

    @Test("refuses a form parameter that comes twice")
    func duplicateFormParameter() async throws {
        let answer = try await fixture.client.call(
            .post,
            "/v1/token\(key)",
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: "grant_type=refresh_token&refresh_token=a&refresh_token=b"
        )
        #expect(answer.status == 400)
        #expect(answer.message?.hasPrefix("Invalid request.") == true)
    }

    @Test("refuses a query with broken escapes", arguments: ["%", "%zz", "%ff", "%00"])
    func refusesQuery(_ text: String) async throws {
        #expect(try await fixture.client.call(.get, "/v1/projects\(key)&a=\(text)").status == 400)
    }

    @Test(
        "changes reserved for admins are refused to the account itself",
        arguments: [
            (
                #"{"idToken":"x","linkProviderUserInfo":{}}"#,
                "UNEXPECTED_PARAMETER : link_provider_user_info is not allowed with ID token."
            ),
            (#"{"idToken":"x","customAttributes":"{}"}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","mfa":{}}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","localId":"y"}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","emailVerified":false}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","phoneNumber":"+4915550100"}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","createdAt":"0"}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","lastLoginAt":"0"}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","unblockProvider":["google.com"]}"#, "INSUFFICIENT_PERMISSION"),
            (#"{"idToken":"x","provider":["google.com"]}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
            (#"{"idToken":"x","upgradeToFederatedLogin":true}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
            (#"{"idToken":"x","disableUser":true}"#, "OPERATION_NOT_ALLOWED"),
            (#"{"localId":"x","displayName":"y"}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
            (#"{"oobCode":"x"}"#, "INVALID_OOB_CODE"),
        ]
    )
    func refusesAdminMembers(_ body: String, _ message: String) async throws {
        #expect(try await fixture.client.post("/v1/accounts:update\(key)", body).message == message)
    }
}
