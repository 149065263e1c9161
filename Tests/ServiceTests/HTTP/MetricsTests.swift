import HTTPTypes
import IdentityService
import TestKit
import Testing

@Suite("Metrics", .database)
struct MetricsTests {
    private static func requests(_ method: String, _ route: String, _ status: Int, _ part: String = "count") -> String {
        "http_server_request_duration_seconds_\(part){http_request_method=\"\(method)\",http_route=\"\(route)\","
            + "http_response_status_code=\"\(status)\"}"
    }

    @Test("count requests by operation and outcome, batches, hashes and the database's work")
    func count() async throws {
        try await TestService.run { service in
            let user = try await service.call("accounts:signUp", ["email": "ada@example.com", "password": "correct"])
            for _ in 0..<3 { #expect(try await service.refresh(user.refreshToken).status == 200) }
            _ = try await service.call("accounts:lookup", ["idToken": "nonsense"])
            _ = try await PlainHTTP.send("GET", service.baseURL + "/nowhere/ada@example.com")
            let samples = try await MetricsPage(service).values
            #expect(samples[Self.requests("POST", "/v1/token", 200)] == 3)
            let infinite =
                #"http_server_request_duration_seconds_bucket{http_request_method="POST",http_route="/v1/token","#
                + #"http_response_status_code="200",le="+Inf"}"#
            #expect(samples[infinite] == 3)
            #expect(samples[Self.requests("POST", "/v1/accounts:signUp", 200)] == 1)
            #expect((samples[Self.requests("POST", "/v1/accounts:signUp", 200, "sum")] ?? 0) > 0)
            #expect(samples[Self.requests("POST", "/v1/accounts:lookup", 400)] == 1)
            #expect(samples[#"identity_errors_total{http_route="/v1/accounts:lookup",code="INVALID_ID_TOKEN"}"#] == 1)
            #expect(samples[Self.requests("", "", 404)] == 1)
            #expect(samples[#"identity_batch_size_count{batch="refresh"}"#] == 3)
            #expect(samples["identity_password_hashes_total"] == 1)
            #expect(samples["identity_password_hashes_in_flight"] == 0)
            #expect((samples["identity_postgres_jobs_total"] ?? 0) >= 4)
            #expect(samples["identity_postgres_connections_max"] == 4)
            #expect(samples["identity_http_requests_in_flight"] == 0)
            #expect(
                !samples.keys.contains { $0.contains("ada@") || $0.contains("\"ada") },
                "nothing that came from outside is a label"
            )
        }
    }

    @Test("stand on their own address alone, with health and nothing else")
    func areApart() async throws {
        let fixture = try ServiceFixture()
        #expect(try await fixture.client.call(.get, "/metrics").status == 404)
        let operations = ServiceClient(fixture.assembly.operations, document: nil)
        for path in ["/metrics", "/healthz"] {
            let reply = try await operations.call(.get, path)
            reply.expectOK()
            // A page in an operator's browser does not read it.
            #expect(reply.headers[.accessControlAllowOrigin] == nil)
            let preflight = try await operations.call(.options, path)
            #expect(preflight.headers[.accessControlAllowMethods] == nil)
        }
        #expect(try await operations.post("/v1/accounts:lookup?key=\(ServiceFixture.key)", "{}").status == 404)
        #expect(try await operations.post("/v1/token?key=\(ServiceFixture.key)", "{}").status == 404)
    }
}
