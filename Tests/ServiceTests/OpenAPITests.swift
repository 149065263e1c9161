import HTTPTypes
import IdentityService
import Projects
import StrictJSON
import TestKit
import Testing

@Suite("openapi.yaml")
struct OpenAPITests {
    let document: OpenAPIDocument
    let routes: [Route]

    init() throws {
        document = try OpenAPIDocument.ofRepository()
        let assembly = try ServiceFixture(development: true).assembly
        routes = (assembly.responder.table.routes + assembly.operations.table.routes).filter { route in
            if case .unbuilt = route.access { false } else { true }
        }
    }

    private func operation(_ route: Route) -> OpenAPIDocument.Operation {
        OpenAPIDocument.Operation(method: route.method.rawValue, path: route.path)
    }

    @Test("describes every route, and nothing else")
    func describesEveryRoute() {
        let served = Set(routes.map(operation))
        #expect(served.subtracting(document.operations).isEmpty, "served, not described")
        #expect(document.operations.subtracting(served).isEmpty, "described, not served")
    }

    @Test("has the operations and credentials that identity dev says of itself, as the emulator does")
    func describesItself() async throws {
        let fixture = try ServiceFixture(development: true)
        let answer = try await fixture.client.call(.get, "/emulator/openapi.json")
        let described = try JSON(parsing: Array(answer.body.utf8))
        let operations = (described["paths"]?.object ?? [:]).flatMap { path, item in
            (item.object ?? [:]).keys.filter { $0 != "parameters" }
                .map { OpenAPIDocument.Operation(method: $0.uppercased(), path: path) }
        }
        let routes = fixture.assembly.responder.table.routes
        let built = routes.filter { if case .unbuilt = $0.access { false } else { true } }
        #expect(Set(operations) == Set(built.map(operation)))
        let lookup = described["paths"]?["/v1/accounts:lookup"]?["post"]
        #expect(lookup == ["security": [["apiKey": []], ["bearer": []]]])
        let ofAdmins = described["paths"]?["/v1/projects/{project}/accounts:lookup"]
        #expect(ofAdmins?["post"] == ["security": [["bearer": []]]])
        #expect(ofAdmins?["parameters"]?.array?.map { $0["name"] } == ["project"])
        let head =
            "title: \(described["info"]?["title"]?.string ?? "")\n  version: \(described["info"]?["version"]?.string ?? "")\n"
        #expect(try Repository.text("openapi.yaml").contains(head))
    }

    @Test("names the paths of v3 and the prefixes of each route")
    func namesOtherPaths() {
        for route in routes {
            let description = document.description(of: operation(route))
            #expect(description?["x-legacy-path"]?.text == route.legacyPath, "\(route.path)")
            let others = description?["x-other-paths"]?.elements.compactMap(\.text) ?? []
            #expect(others == route.others.map(\.path), "\(route.path)")
            let names = route.host == .service ? [""] : ["", "/\(route.host.rawValue)"]
            let prefixes = names.flatMap { route.isOfAdminV2 ? [$0, "\($0)/admin"] : [$0] }.map {
                $0.isEmpty ? "/" : $0
            }
            #expect(document.prefixes(of: route.path) == prefixes, "\(route.path)")
        }
    }

    @Test("says which credential and scope a route asks for")
    func namesCredentials() {
        for route in routes {
            let description = document.description(of: operation(route))
            let schemes = (description?["security"]?.elements ?? []).flatMap(\.members).map(\.name)
            let scope = description?["x-scope"]?.text
            switch route.access {
            case .open: #expect(schemes == [], "\(route.path)")
            // A back end's credential takes the place of the key.
            case .client: #expect(schemes == ["apiKey", "apiKeyHeader", "bearer"], "\(route.path)")
            case .admin(let wanted, _):
                #expect(schemes == ["bearer"], "\(route.path)")
                #expect(scope == wanted.rawValue, "\(route.path)")
            case .unbuilt: Issue.record("filtered above")
            }
        }
    }

    @Test("has a plain text answer where a JSON error would sign people out")
    func namesPlainErrors() {
        for route in routes {
            guard case .plainFailures = route.envelope else { continue }
            let problems = document.check(operation(route), status: 503, contentType: "text/plain", body: "x")
            #expect(problems.isEmpty, "\(route.path)")
        }
    }

    @Test("has no default response, and no object of any shape without a reason beside it")
    func isDefinite() {
        #expect(document.indefiniteParts == [])
    }

    @Test(
        "would find a default response and shapes that say nothing",
        arguments: [
            ("responses: { default: { description: x } }", ["GET /x: default"]),
            ("responses: { '200': { content: { t: { schema: { type: object } } } } }", ["GET /x 200"]),
            (
                "responses: { '200': { content: { t: { schema: { type: object, properties: { a: { type: string } } } } } } }",
                ["GET /x 200"]
            ),
            ("responses: { '200': { content: { t: { schema: { type: array, items: {} } } } } }", ["GET /x 200[]"]),
            (
                "requestBody: { content: { t: { schema: { properties: { a: { $ref: '#/components/schemas/S' } } } } } }",
                ["GET /x body.a"]
            ),
            ("requestBody: { content: { t: { schema: { type: object, description: Ours. } } } }", []),
            ("responses: { '200': { content: { t: { schema: { type: object, additionalProperties: false } } } } }", []),
        ] as [(String, [String])]
    )
    func findsIndefinite(_ operation: String, _ parts: [String]) throws {
        let text =
            "{ servers: [{ url: / }], paths: { /x: { get: { \(operation) } } }, components: { schemas: { S: { type: object } } } }"
        #expect(try OpenAPIDocument(text).indefiniteParts == parts)
    }

    @Test("merges what operations share, and lets their own win")
    func merges() throws {
        let document = try OpenAPIDocument(
            """
            x: &x { '400': { description: shared }, '500': { description: shared } }
            paths: { /x: { get: { responses: { <<: *x, '400': { content: {} } } } } }
            """
        )
        let operation = OpenAPIDocument.Operation(method: "GET", path: "/x")
        func check(_ status: Int, _ body: String) -> [String] {
            document.check(operation, status: status, contentType: "text/plain", body: body)
        }
        #expect(check(500, "") == [])
        #expect(check(400, "x") == ["content type \"text/plain\" is not described"])
        #expect(check(404, "") == ["status 404 is not described"])
    }

    // MARK: The checker itself

    private func check(_ body: String, status: Int = 200) -> [String] {
        document.check(
            .init(method: "POST", path: "/v1/accounts:signInWithIdp"),
            status: status,
            contentType: "application/json; charset=utf-8",
            body: body
        )
    }

    private let answer =
        #"{"kind":"identitytoolkit#VerifyAssertionResponse","federatedId":"1","providerId":"p","emailVerified":false,"rawUserInfo":"{}""#

    @Test("accepts an answer that is as described")
    func acceptsGoodAnswer() {
        #expect(check(answer + "}") == [])
    }

    @Test(
        "finds deviations from the description",
        arguments: [
            #","needConfirmation":false}"#, #","expiresIn":3600}"#, #","idToken":null}"#, #","unknown":1}"#,
            #","verifiedProvider":[]}"#, #","verifiedProvider":[1]}"#, #","oauthExpireIn":"1"}"#,
            #","errorMessage":"OTHER"}"#,
        ]
    )
    func findsProblem(_ rest: String) {
        #expect(!check(answer + rest).isEmpty)
    }

    @Test("finds a missing member, another content type and a status without description")
    func findsOtherProblems() {
        #expect(check("{}").count == 5)
        #expect(check("[]").contains("$: is no object"))
        #expect(check(#"{"error":{"code":400}}"#, status: 400) == ["$.error.message: is missing"])
        let health = OpenAPIDocument.Operation(method: "GET", path: "/healthz")
        #expect(document.check(health, status: 200, contentType: "text/html", body: "x").count == 1)
        let unknown = OpenAPIDocument.Operation(method: "GET", path: "/nowhere")
        #expect(document.check(unknown, status: 200, contentType: nil, body: "").count == 1)
    }

    @Test("finds a secret in the answer of a provider's configuration")
    func findsSecret() {
        let operation = OpenAPIDocument.Operation(
            method: "GET",
            path: "/v2/projects/{project}/oauthIdpConfigs/{config}"
        )
        let problems = document.check(
            operation,
            status: 200,
            contentType: "application/json",
            body: #"{"clientSecret":"s"}"#
        )
        #expect(problems == ["$.clientSecret: must never be sent"])
    }

    @Test(
        "finds the operation of a concrete path",
        arguments: [
            ("POST", "/v1/accounts:lookup?key=x", "/v1/accounts:lookup"),
            ("POST", "/identitytoolkit.googleapis.com/v1/accounts%3Alookup", "/v1/accounts:lookup"),
            ("POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/getAccountInfo", "/v1/accounts:lookup"),
            ("GET", "/v2/projects/p/oauthIdpConfigs/oidc.x", "/v2/projects/{project}/oauthIdpConfigs/{config}"),
        ]
    )
    func findsOperation(_ method: String, _ path: String, _ template: String) {
        #expect(document.operation(method, path)?.path == template)
    }
}
