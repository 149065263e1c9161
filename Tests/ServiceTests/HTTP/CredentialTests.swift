import HTTPTypes
import IdentityService
import Projects
import StrictJSON
import TestKit
import Testing

@Suite("Credentials on requests")
struct CredentialTests {
    private let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture() }

    private static let endUserToken =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJ1In0.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl"

    private func path(of route: Route) -> String {
        route.path.replacing("{project}", with: "demo-project").replacing("{config}", with: "oidc.acme")
            .replacing("{tenant}", with: "t")
    }

    private func bearer(_ text: String) -> HTTPFields { [.authorization: text] }

    // MARK: Admin

    @Test(
        "T-D13: no admin route answers without an admin credential",
        arguments: [
            (nil, nil), (nil, ServiceFixture.key), ("Bearer \(endUserToken)", nil),
            ("Bearer \(endUserToken)", ServiceFixture.key), ("Bearer owner", nil),
            ("Bearer \(ServiceFixture.key)", nil),
            ("Bearer idk_unknown", nil), ("Bearer idk_disabled", nil), ("Bearer idk_expired", nil),
            ("Basic b3duZXI6", nil), ("garbage", nil),
        ] as [(String?, String?)]
    )
    func refusesAdminRoutes(_ authorization: String?, _ key: String?) async throws {
        var seen = 0
        for route in fixture.assembly.responder.table.routes {
            guard case .admin = route.access else { continue }
            for path in [path(of: route), "/\(route.host.rawValue)\(path(of: route))"] {
                var headers = HTTPFields()
                headers[.authorization] = authorization
                let answer = try await fixture.client.call(
                    route.method,
                    key.map { "\(path)?key=\($0)" } ?? path,
                    headers: headers,
                    body: "{"
                )
                #expect(answer.status == 401, "\(route.method) \(path)")
                #expect(answer.json["error"]?["status"]?.text == "UNAUTHENTICATED")
                seen += 1
            }
        }
        #expect(seen > 30)
    }

    @Test("T-D13: a credential without the scope, or of another project, gets 403 on every admin route")
    func refusesOtherScopes() async throws {
        for route in fixture.assembly.responder.table.routes {
            guard case .admin(let scope, _) = route.access else { continue }
            // Those of v3 have the project in the body.
            let body = route.path.contains("{project}") ? "" : #"{"targetProjectId":"demo-project"}"#
            let other = try await fixture.client.call(
                route.method,
                path(of: route),
                headers: bearer("Bearer idk_other"),
                body: body
            )
            #expect(other.status == 403, "\(route.path)")
            guard scope != .readAccounts else { continue }
            let reader = try await fixture.client.call(
                route.method,
                path(of: route),
                headers: bearer("Bearer idk_reader")
            )
            #expect(reader.status == 403, "\(route.path)")
            #expect(reader.json["error"]?["status"]?.text == "PERMISSION_DENIED")
        }
    }

    @Test("T-D13: the admin's form of a client operation asks for the same")
    func refusesAdminForms() async throws {
        var seen = 0
        for route in fixture.assembly.responder.table.routes {
            guard case .client(let form?, _) = route.access else { continue }
            seen += 1
            let path = "\(route.path)?key=\(ServiceFixture.key)"
            let user = try await fixture.client.post(path, "{}", headers: bearer("Bearer \(Self.endUserToken)"))
            #expect(user.status == 401, "\(route.path)")
            let other = try await fixture.client.post(path, "{}", headers: bearer("Bearer idk_other"))
            #expect(other.status == 403, "\(route.path)")
            guard form.scope != .readAccounts else { continue }
            let reader = try await fixture.client.post(path, "{}", headers: bearer("Bearer idk_reader"))
            #expect(reader.status == 403, "\(route.path)")
        }
        #expect(seen == 5)
    }

    @Test("tells a missing credential from a key in its place and from a wrong one")
    func tellsApart() async throws {
        let path = "/v1/projects/demo-project/accounts:lookup"
        let none = try await fixture.client.post(path, "{}")
        #expect(none.json["error"]?["errors"]?[0]?["reason"]?.text == "required")
        #expect(none.json["error"]?["errors"]?[0]?["location"]?.text == "Authorization")
        let key = try await fixture.client.post(path + "?key=\(ServiceFixture.key)", "{}")
        #expect(key.message?.hasPrefix("API keys are not supported by this API.") == true)
        #expect(key.json["error"]?["details"]?[0]?["reason"]?.text == "CREDENTIALS_MISSING")
        let wrong = try await fixture.client.post(path, "{}", headers: bearer("Bearer x"))
        #expect(wrong.json["error"]?["errors"]?[0]?["reason"]?.text == "authError")
    }

    @Test("takes the scheme in any letter case", arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
    func takesScheme(_ scheme: String) async throws {
        let answer = try await fixture.client.call(
            .get,
            "/v2/projects/demo-project/config",
            headers: bearer("\(scheme) \(ServiceFixture.adminToken)")
        )
        answer.expectOK()
        #expect(answer.json["name"]?.text == "projects/123456789012/config")
    }

    @Test("tells an unknown project to those alone who may see all projects")
    func unknownProject() async throws {
        let path = "/v2/projects/no-such-project/config"
        let all = try await fixture.client.call(.get, path, headers: bearer("Bearer \(ServiceFixture.adminToken)"))
        #expect(all.status == 404)
        #expect(all.message == "PROJECT_NOT_FOUND")
        let other = try await fixture.client.call(.get, path, headers: bearer("Bearer idk_other"))
        #expect(other.status == 403)
    }

    @Test("answers for tenants that they do not exist, to admins alone")
    func tenants() async throws {
        let path = "/v1/projects/demo-project/tenants/t/accounts:lookup"
        let answer = try await fixture.client.post(path, "{}", headers: bearer("Bearer \(ServiceFixture.adminToken)"))
        #expect(answer.status == 404)
        #expect(answer.message == "TENANT_NOT_FOUND")
        #expect(try await fixture.client.post(path, "{}").status == 401)
        let client = try await fixture.client.post(
            "/v1/accounts:signUp?key=\(ServiceFixture.key)",
            #"{"tenantId":"t"}"#
        )
        #expect(client.message == "INVALID_TENANT_ID")
    }

    @Test("T-E10: no Authorization header breaks the service, none but a good one opens it")
    func survivesHeaders() async throws {
        var generator = SplitMix(seed: 42)
        let pieces = [
            "Bearer", "bearer ", " ", "\t", ",", "=", "owner", "\u{e9}", "Basic", "null", "undefined", ".", "..", "%00",
            "eyJhbGciOiJub25lIn0.e30.", "idk_", String(repeating: "A", count: 9000), ServiceFixture.key, "\"", "\\",
            ":",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0...5, using: &generator))
                .compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            var headers = HTTPFields()
            headers.append(HTTPField(name: .authorization, value: text))
            if Bool.random(using: &generator) { headers.append(HTTPField(name: .authorization, value: "Bearer x")) }
            let answer = try await fixture.client.call(.get, "/v2/projects/demo-project/config", headers: headers)
            #expect(answer.status == 401, "\(text)")
        }
    }

    @Test("T-E10: two Authorization headers are refused, also when one of them is good")
    func refusesTwoHeaders() async throws {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .authorization, value: "Bearer \(ServiceFixture.adminToken)"))
        headers.append(HTTPField(name: .authorization, value: "Bearer x"))
        let answer = try await fixture.client.call(.get, "/v2/projects/demo-project/config", headers: headers)
        #expect(answer.status == 401)
    }

    @Test("T-E10: an authenticator that fails denies")
    func deniesOnFailure() async throws {
        let answer = try await fixture.client.call(
            .get,
            "/v2/projects/demo-project/config",
            headers: bearer("Bearer idk_broken")
        )
        #expect(answer.status == 500)
        #expect(answer.message == "INTERNAL_ERROR")
    }

    // MARK: API keys

    @Test("every client route requires an API key, with its service's error format")
    func asksForKey() async throws {
        for route in fixture.assembly.responder.table.routes {
            guard case .client = route.access else { continue }
            let missing = try await fixture.client.call(route.method, route.path, body: "{")
            #expect(missing.status == 403, "\(route.path)")
            #expect(missing.json["error"]?["status"]?.text == "PERMISSION_DENIED")
            let isToken = route.host == .secureToken
            #expect(missing.message?.hasPrefix(isToken ? "Method doesn't allow" : "The request is missing") == true)

            let wrong = try await fixture.client.call(route.method, route.path + "?key=AIzaWrong", body: "{")
            #expect(wrong.status == 400)
            #expect(wrong.message == "API key not valid. Please pass a valid API key.")
            #expect(wrong.json["error"]?["details"]?[0]?["reason"]?.text == "API_KEY_INVALID")
            #expect(wrong.json["error"]?["details"]?[0]?["metadata"]?["service"]?.text == route.host.rawValue)
            // The envelope of v2 has no list of errors.
            let hasList = !isToken && !route.path.hasPrefix("/v2/")
            #expect(wrong.json["error"]?["errors"]?[0]?["reason"]?.text == (hasList ? "keyInvalid" : nil))
        }
    }

    @Test("takes the key from the query or from the header")
    func takesKey() async throws {
        let query = try await fixture.client.call(.get, "/v1/projects?key=\(ServiceFixture.key)")
        query.expectOK()
        #expect(query.json["projectId"]?.text == "123456789012")
        let name = try #require(HTTPField.Name("X-Goog-Api-Key"))
        let header = try await fixture.client.call(.get, "/v1/projects", headers: [name: ServiceFixture.key])
        #expect(header.body == query.body)
        let legacy = try await fixture.client.call(
            .get,
            "/www.googleapis.com/identitytoolkit/v3/relyingparty/getProjectConfig?key=\(ServiceFixture.key)"
        )
        #expect(legacy.body == query.body)
    }

    @Test("refuses two keys in one query, even the same", arguments: ["x", ServiceFixture.key])
    func refusesTwoKeys(_ other: String) async throws {
        let answer = try await fixture.client.call(.get, "/v1/projects?key=\(ServiceFixture.key)&key=\(other)")
        #expect(answer.status == 400)
    }
}
