import HTTPTypes
import IdentityService
import Testing

@Suite("Route table")
struct RouteTableTests {
    private let table: RouteTable

    init() throws { table = try ServiceFixture().assembly.responder.table }

    private func match(_ method: HTTPRequest.Method, _ path: String) -> String? {
        guard case .route(let route, _) = table.match(method, path) else { return nil }
        return route.path
    }

    @Test(
        "finds a route under all of its paths",
        arguments: [
            ("/v1/accounts:lookup", "/v1/accounts:lookup"),
            ("/identitytoolkit.googleapis.com/v1/accounts:lookup", "/v1/accounts:lookup"),
            ("/v1/accounts%3Alookup", "/v1/accounts:lookup"),
            ("/v1/accounts%3alookup", "/v1/accounts:lookup"),
            ("/identitytoolkit/v3/relyingparty/getAccountInfo", "/v1/accounts:lookup"),
            ("/www.googleapis.com/identitytoolkit/v3/relyingparty/getAccountInfo", "/v1/accounts:lookup"),
            ("/v1/token", "/v1/token"),
            ("/securetoken.googleapis.com/v1/token", "/v1/token"),
            ("/v1/projects/p/accounts:lookup", "/v1/projects/{project}/accounts:lookup"),
            ("/v1/projects/p/accounts%3Alookup", "/v1/projects/{project}/accounts:lookup"),
            ("/v1/projects/p/tenants/t/accounts:lookup", "/v1/projects/{project}/accounts:lookup"),
            ("/identitytoolkit.googleapis.com/v1/projects/p/accounts", "/v1/projects/{project}/accounts"),
        ]
    )
    func findsRoute(_ path: String, _ expected: String) {
        #expect(match(.post, path) == expected)
    }

    @Test(
        "T-E19: finds nothing elsewhere",
        arguments: [
            "", "/v1", "/v1/accounts", "/v1/accounts:lookup/", "/v1/accounts:lookup/x", "//v1/accounts:lookup",
            "/v1//accounts:lookup", "/v1/accounts:lookup%2f", "/v1/accounts:lookup%00", "/v1/accounts:lookup%",
            "/V1/token",
            "/v1/accounts:LOOKUP", "/identitytoolkit.googleapis.com/v1/token", "/www.googleapis.com/v1/accounts:lookup",
            "/securetoken.googleapis.com/v1/accounts:lookup", "/v1/projects//accounts:lookup",
            "/v1/projects/a:b/accounts:lookup", "/v1/accounts%253Alookup", "/v1/./token", "/v1/../v1/token", "v1/token",
            "/v1/%61ccounts:lookup", "/v1/%70rojects/p/accounts:lookup", "/%63onsole/sign-in", "/v1%2Ftoken",
            "/v1/projects/p%2F\u{301}/accounts:lookup", "/v1/projects/p%2F%CC%81/accounts:lookup",
            "/v1/projects/p/accounts:%6Cookup", "/v1/projects/p/tenants//accounts:lookup", "/v1/accounts:lookup;x",
            "http://host/v1/token",
        ]
    )
    func findsNothing(_ path: String) {
        #expect(match(.post, path) == nil)
    }

    @Test("tells which methods a path has")
    func tellsMethods() {
        guard case .otherMethods(let methods) = table.match(.put, "/v2/projects/p/config") else {
            Issue.record("no methods")
            return
        }
        #expect(Set(methods) == [.get, .patch])
        #expect(match(.head, "/healthz") == "/healthz")
    }

    @Test("every route is found under each of its paths: none stands in the way of another")
    func findsEach() {
        for route in table.routes {
            for path in RouteTable.paths(of: route) {
                let called = path.replacing(#/\{[a-zA-Z]+\}/#, with: "something")
                #expect(match(route.method, called) == route.path, "\(called)")
            }
        }
    }

    @Test("decodes captures once")
    func decodesCaptures() {
        guard case .route(_, let captures) = table.match(.get, "/v2/projects/a%20b/oauthIdpConfigs/oidc.%2541") else {
            Issue.record("no route")
            return
        }
        #expect(captures == ["project": "a b", "config": "oidc.%41"])
    }

    @Test("prefers the first of two routes")
    func prefersFirst() {
        let first = Route(.get, "/", on: .service, .unbuilt)
        let second = Route(.get, "/", on: .service, .open { _ in Response(status: .ok) })
        guard case .route(let route, _) = RouteTable([first, second]).match(.get, "/") else {
            Issue.record("no route")
            return
        }
        guard case .unbuilt = route.access else {
            Issue.record("the second")
            return
        }
    }
}
