import HTTPTypes
import IdentityService
import InMemoryLogging
import Logging
import NIOCore
import Postgres
import Requests
import StrictJSON
import Testing
import TestKit

@Suite("Answering requests")
struct ServiceResponderTests {
    private let fixture: ServiceFixture
    private let key = "?key=\(ServiceFixture.key)"

    init() throws { fixture = try ServiceFixture() }

    // MARK: Paths

    @Test("answers 404 for unknown paths, 405 for other methods, 501 for what is not built, all in JSON")
    func otherPaths() async throws {
        for (method, path, status, name) in [
            (.get, "/nowhere", 404, "NOT_FOUND"), (.post, "/v1/accounts:unknown\(key)", 404, "NOT_FOUND"),
            (.get, "/v1/accounts:lookup\(key)", 405, "UNIMPLEMENTED"),
            (.post, "/v1/accounts:signInWithGameCenter\(key)", 501, "UNIMPLEMENTED"),
            (.post, "/identitytoolkit/v3/relyingparty/signOutUser", 501, "UNIMPLEMENTED"),
            (.get, "/v2/defaultSupportedIdps\(key)", 501, "UNIMPLEMENTED"),
        ] as [(HTTPRequest.Method, String, Int, String)] {
            let answer = try await fixture.client.call(method, path)
            #expect(answer.status == status, "\(path)")
            #expect(answer.json["error"]?["code"]?.number == status)
            #expect(answer.json["error"]?["status"]?.text == name)
            #expect(answer.headers[.contentType] == "application/json; charset=utf-8")
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
        }
        #expect(try await fixture.client.call(.delete, "/v2/projects/p/config").headers[.allow] == "GET, PATCH")
    }

    @Test("answers for health without credentials, and never as the emulator")
    func health() async throws {
        #expect(try await fixture.client.call(.get, "/").status == 404)
        #expect(try await fixture.client.call(.get, "/healthz").json["status"]?.text == "ok")
        let head = try await fixture.client.call(.head, "/healthz")
        #expect(head.body.isEmpty)
        #expect(head.headers[.contentLength] == "15")
    }

    @Test("is not ready while the database is away")
    func readiness() async throws {
        let answer = try await fixture.client.call(.get, "/readyz")
        #expect(answer.status == 503)
        #expect(answer.json["checks"]?["database"]?.text == "failed")
    }

    @Test("serves the keys for others to keep")
    func keys() async throws {
        let account = "securetoken@system.gserviceaccount.com"
        for (path, prefix) in [
            ("/robot/v1/metadata/x509/\(account)", "/www.googleapis.com"),
            ("/service_accounts/v1/jwk/securetoken%40system.gserviceaccount.com", "/www.googleapis.com"),
            ("/identitytoolkit/v3/relyingparty/publicKeys", "/www.googleapis.com"),
            ("/v1/sessionCookiePublicKeys", "/identitytoolkit.googleapis.com"),
        ] {
            for method: HTTPRequest.Method in [.get, .head] {
                for path in [path, prefix + path] {
                    let answer = try await fixture.client.call(method, path)
                    answer.expectOK()
                    // What Google's servers send, and Admin SDKs take the lifetime from (`max-age=` up to the next comma).
                    let expected = "public, max-age=7200, must-revalidate, no-transform"
                    #expect(answer.headers[.cacheControl] == expected, "\(path)")
                    #expect(answer.headers[.contentType] == "application/json; charset=utf-8")
                }
            }
        }
    }

    // MARK: CORS

    @Test("answers preflights with 204 and looks at no credential")
    func preflight() async throws {
        for path in ["/v1/accounts:lookup", "/v1/token", "/v2/projects/p/config", "/nowhere"] {
            let privateNetwork = try #require(HTTPField.Name("Access-Control-Request-Private-Network"))
            let answer = try await fixture.client.call(
                .options,
                path,
                headers: [
                    .origin: "https://app.example", .accessControlRequestMethod: "POST",
                    .accessControlRequestHeaders: "content-type,x-client-version", privateNetwork: "true",
                ]
            )
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
            #expect(answer.headers[.accessControlAllowMethods] == "GET, POST, PUT, PATCH, DELETE, OPTIONS")
            #expect(answer.headers[.accessControlAllowHeaders] == "content-type,x-client-version")
            let allowed = try #require(HTTPField.Name("Access-Control-Allow-Private-Network"))
            #expect(answer.headers[allowed] == "true")
            #expect(answer.body.isEmpty)
        }
    }

    @Test(
        "sends no header back that is no list of names",
        arguments: ["a b;c", "x\"y", String(repeating: "a", count: 3000)]
    )
    func hostilePreflight(_ text: String) async throws {
        let answer = try await fixture.client.call(.options, "/v1/token", headers: [.accessControlRequestHeaders: text])
        #expect(answer.status == 204)
        #expect(answer.headers[.accessControlAllowHeaders] == nil)
    }

    // MARK: Failures

    @Test("answers 503 while the database is away, as plain text where JSON would sign people out")
    func databaseAway() async throws {
        let headers: HTTPFields = [.authorization: "Bearer \(ServiceFixture.adminToken)"]
        let admin = try await fixture.client.post(
            "/v1/projects/demo-project/accounts:lookup",
            #"{"localId":["u"]}"#,
            headers: headers
        )
        #expect(admin.status == 503)
        #expect(admin.json["error"]?["status"]?.text == "UNAVAILABLE")
        let lookup = try await fixture.client.post(
            "/v1/accounts:lookup",
            #"{"localId":["u"],"targetProjectId":"demo-project"}"#,
            headers: headers
        )
        #expect(lookup.status == 503)
        #expect(lookup.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(lookup.headers[.retryAfter] == "1")
        #expect(!fixture.log.entries.contains { $0.level == .error })
        let warnings = fixture.log.entries.filter { $0.message == "Requests are refused" }
        #expect(warnings.count == 1, "one a minute")
        let lines = fixture.log.entries.filter { $0.message == "Request" }
        #expect(lines.allSatisfy { "\($0.metadata["error.cause"] ?? "")".hasPrefix("postgres.") })
    }

    @Test("logs each cause of refusals once a minute, and a cause of the database's that is none too")
    func recurringCauses() async throws {
        let broken = Route(
            .get,
            "/broken",
            on: .service,
            errors: .status,
            .open { _ in throw PostgresError(.server, sqlState: "XX000") }
        )
        let full = Route(
            .get,
            "/full",
            on: .service,
            errors: .status,
            .open { _ in throw PostgresError(.server, sqlState: "53100") }
        )
        let fixture = try ServiceFixture(additionalRoutes: [broken, full])
        for _ in 1...3 {
            #expect(try await fixture.client.call(.get, "/broken").status == 500)
            #expect(try await fixture.client.call(.get, "/full").status == 503)
        }
        let causes = fixture.log.entries.filter { $0.level >= .warning }.map { "\($0.metadata["error.cause"] ?? "")" }
        #expect(causes == ["postgres.server.XX000", "postgres.server.53100"])
        let (recurring, now) = (RecurringCauses(), ContinuousClock.now)
        #expect(recurring.isDue("a", at: now) && recurring.isDue("b", at: now))
        #expect(!recurring.isDue("a", at: now + .seconds(59)) && recurring.isDue("a", at: now + .seconds(60)))
    }

    @Test("says nothing of an unknown error, and logs its type once")
    func unknownError() async throws {
        struct Leak: Error, CustomStringConvertible { var description: String { "hunter2" } }
        let route = Route(.get, "/leak", on: .service, errors: .status, .open { _ in throw Leak() })
        let fixture = try ServiceFixture(additionalRoutes: [route])
        let answer = try await fixture.client.call(.get, "/leak")
        #expect(answer.status == 500)
        #expect(answer.message == "INTERNAL_ERROR")
        let lines = fixture.log.entries
        #expect(lines.filter { $0.level == .error }.count == 1)
        #expect(!lines.contains { "\($0)".contains("hunter2") })
    }

    // MARK: Headers and log

    @Test("gives every answer a request id that stands in its log lines")
    func requestIDs() async throws {
        let name = try #require(HTTPField.Name("X-Request-Id"))
        var ids: Set<String> = []
        for path in ["/__/auth/action", "/nowhere", "/v1/projects"] {
            let answer = try await fixture.client.call(.get, path, headers: [name: "mine\u{202e}"])
            let id = try #require(answer.headers[name])
            #expect(id.utf8.count == 11)
            #expect(ids.insert(id).inserted)
            let lines = fixture.log.entries.filter { $0.metadata["request.id"] == "\(id)" }
            #expect(lines.map(\.message) == ["Request"])
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(answer.headers[try #require(HTTPField.Name("Referrer-Policy"))] == "no-referrer")
        }
    }

    @Test("of probes, only what is not as usual is in the log")
    func probes() async throws {
        try await fixture.client.call(.get, "/healthz").expectOK()
        #expect(try await fixture.client.call(.post, "/healthz").status == 405)
        let lines = fixture.log.entries.filter { $0.message == "Request" && $0.level == .info }
        #expect(lines.map { "\($0.metadata["http.status"] ?? "")" } == ["405"])
    }

    @Test("logs neither query nor body nor header nor a path's secrets")
    func quietLog() async throws {
        _ = try await fixture.client.post(
            "/v1/accounts:signInWithPassword\(key)&code=secret-1",
            #"{"email":"secret-2@example.com","password":"secret-3"}"#,
            headers: [.authorization: "Bearer secret-4", .userAgent: "secret-5"]
        )
        _ = try await fixture.client.post(
            "/v1/accounts:signInWithIdp\(key)",
            #"{"requestUri":"secret-6","idToken":"secret-7"}"#
        )
        let text = fixture.log.entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
        #expect(!text.contains("secret-"))
        #expect(!text.contains(ServiceFixture.key))
        #expect(text.contains("/v1/accounts:signInWithIdp"))
        #expect(text.contains("error.code"))
    }

    @Test("cleans an unknown path before it logs it")
    func cleansPaths() async throws {
        _ = try await fixture.client.call(.get, "/x\u{85}y" + String(repeating: "z", count: 500))
        let entry = try #require(fixture.log.entries.last)
        let path = try #require(entry.metadata["http.path"]).description
        #expect(path.count <= 128)
        #expect(!path.contains("\u{85}"))
    }
}
