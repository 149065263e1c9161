import Accounts
import Development
import Domain
import IdentityService
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import Testing
import TestKit

/// W3C Trace Context: from a request through to whoever is called because of it.
@Suite("Traces", .database, .testProvider, .serialized)
struct TraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(trace)-00f067aa0ba902b7-01"

    private func run(_ body: @Sendable (TestService, WebReceiver, TestTenant) async throws -> Void) async throws {
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (200, "{}") }
            var options = TestService.Options()
            options.sendsMessages = true
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/create"
            options.settings.delivery.webhook = WebhookEndpoint(
                url: receiver.baseURL + "/hook",
                types: [.accountCreated],
                secrets: [Secret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]
            )
            try await TestService.run(options) { service in
                let tenant = try await TestProvider.tenant(.genericOIDC)
                tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
                try await service.configure(tenant.configuration(as: "oidc.acme"))
                try await body(service, receiver, tenant)
            }
        }
    }

    private func signIn(_ service: TestService, _ tenant: TestTenant, headers: [(String, String)]) async throws {
        let user = tenant.addUser(TestUser("1", email: "ada@example.com", emailVerified: true))
        let token = try tenant.mintIDToken(for: user)
        let reply = try await service.call(
            "accounts:signInWithIdp",
            ["requestUri": "http://localhost", "postBody": .string("id_token=\(token)&providerId=oidc.acme")],
            headers: headers
        )
        reply.expectOK()
        #expect(try await service.assembly.deliveries.deliverDue() == 1)
    }

    /// The trace of a header that a receiver got.
    private func traceID(_ header: String?) throws -> String {
        let match = try #require(
            (header ?? "").wholeMatch(of: /00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]/),
            "\(header ?? "")"
        )
        return String(match.1)
    }

    @Test(
        "a request's trace reaches the provider, the function, the webhook and the log, each with a parent of its own"
    )
    func goesThrough() async throws {
        try await run { service, receiver, tenant in
            try await signIn(service, tenant, headers: [("traceparent", Self.parent), ("tracestate", "a=1, b=2")])
            let provider = tenant.requests()
            #expect(!provider.isEmpty)
            let headers = provider.map { $0.header("traceparent") } + receiver.received.map { $0.header("traceparent") }
            for header in headers { #expect(try traceID(header) == Self.trace) }
            #expect(Set(headers + [Self.parent]).count == headers.count + 1, "no parent twice")
            #expect(receiver.received.map(\.path) == ["/create", "/hook"])
            for request in receiver.received { #expect(request.header("tracestate") == "a=1,b=2") }
            for request in provider { #expect(request.header("tracestate") == nil, "it is not for others") }
            let line = service.logs.entries.first { $0.metadata["http.path"] == "/v1/accounts:signInWithIdp" }
            #expect(line?.metadata["trace.id"] == "\(Self.trace)")
            let sent = service.logs.entries.first { $0.message == "Sent a message" }
            #expect(sent?.metadata["trace.id"] == "\(Self.trace)")
        }
    }

    @Test("a trace that is none is left alone, and nothing of it goes anywhere; one of our own begins")
    func begins() async throws {
        try await run { service, receiver, tenant in
            let odd = "00-\(Self.trace)-00f067aa0ba902b7-01-more"
            try await signIn(service, tenant, headers: [("traceparent", odd), ("tracestate", "a=1")])
            let ids = try
                (tenant.requests().map { $0.header("traceparent") }
                + receiver.received.map { $0.header("traceparent") }).map(traceID)
            #expect(Set(ids).count == 1 && ids.first != Self.trace, "\(ids)")
            #expect(receiver.received.allSatisfy { $0.header("tracestate") == nil })
            let line = service.logs.entries.first { $0.metadata["http.path"] == "/v1/accounts:signInWithIdp" }
            #expect(line?.metadata["trace.id"] == ids.first.map { "\($0)" })
        }
    }
}
