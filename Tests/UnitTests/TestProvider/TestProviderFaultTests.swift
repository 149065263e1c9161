import Development
import Foundation
import StrictJSON
import TestKit
import Testing
import Text

/// Faults happen at the call they were armed for, and a fault that nothing met is seen.
@Suite(.testProvider)
struct TestProviderFaultTests {
    private let ada = TestUser("1001", email: "ada@example.com", name: "Ada")

    @Test func happensAtTheCallItWasArmedFor() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let url = try #require(tenant.url(.keys))
        tenant.addFault(.status(503, headers: [("Retry-After", "7")]), at: .keys, call: 2)
        try await PlainHTTP.send("GET", url).expectOK()
        #expect(tenant.unusedFaults.count == 1)
        let second = try await PlainHTTP.send("GET", url)
        #expect(second.status == 503)
        #expect(second.header("retry-after") == "7")
        #expect(tenant.unusedFaults.isEmpty)
        try await PlainHTTP.send("GET", url).expectOK()
        #expect(tenant.requests(.keys).map(\.status) == [200, 503, 200])
    }

    @Test func happensAtEveryCallUntilItIsRemoved() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let url = try #require(tenant.url(.discovery))
        tenant.addFault(
            .members(set: ["issuer": "https://other.test"], remove: ["jwks_uri"]),
            at: .discovery,
            call: nil
        )
        for _ in 1...2 {
            let document = try await PlainHTTP.send("GET", url).json()
            #expect(document["issuer"] as? String == "https://other.test")
            #expect(document["jwks_uri"] == nil)
        }
        tenant.removeFaults()
        #expect(try await PlainHTTP.send("GET", url).json()["issuer"] as? String == tenant.issuer)
    }

    @Test func aFaultThatNothingMetIsNamed() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addFault(.reset, at: .userinfo)
        #expect(tenant.unusedFaults == ["userinfo, call 1: reset"])
    }

    @Test(arguments: [ProviderFault.reset, .resetInBody])
    func cutsTheConnection(_ fault: ProviderFault) async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addFault(fault, at: .keys)
        await #expect(throws: (any Error).self) {
            try await PlainHTTP.send("GET", tenant.url(.keys) ?? "")
        }
        #expect(tenant.unusedFaults.isEmpty)
        try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").expectOK()
    }

    @Test func aResetLeavesTheCodeGood() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        tenant.everyLogin(ada)
        let code = try #require(try await client.authorize().query["code"])
        tenant.addFault(.reset, at: .token)
        await #expect(throws: (any Error).self) { try await client.exchange(code) }
        try await client.exchange(code).expectOK()
    }

    @Test(arguments: [true, false])
    func holdsAnAnswerUntilTheGateOpens(inBody: Bool) async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let gate = TestGate()
        tenant.addFault(inBody ? .heldInBody(gate) : .held(gate), at: .keys)
        async let answer = PlainHTTP.send("GET", tenant.url(.keys) ?? "")
        await gate.reached()
        #expect(tenant.requests(.keys).map(\.status) == [inBody ? 200 : nil])
        gate.open()
        try await answer.expectOK()
    }

    @Test func aClosedGateDoesNotKeepTheServerFromStopping() async throws {
        let provider = TestProvider()
        try await withThrowingTaskGroup { tasks in
            try await provider.serve {
                let tenant = try await provider.addTenant("held", .genericOIDC)
                let gate = TestGate()
                tenant.addFault(.held(gate), at: .keys)
                tasks.addTask { _ = try? await PlainHTTP.send("GET", tenant.url(.keys) ?? "") }
                await gate.reached()
            }
            try await tasks.waitForAll()
        }
    }

    @Test func aBodyWithoutEndGoesOnUntilTheClientLeaves() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addFault(.endless, at: .userinfo)
        // The plain client gives up after 16 MiB.
        await #expect(throws: (any Error).self) {
            try await PlainHTTP.send("GET", tenant.url(.userinfo) ?? "")
        }
        try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").expectOK()
    }

    @Test func replacesTheAnswer() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let url = try #require(tenant.url(.keys))
        tenant.addFault(.redirect(to: "http://localhost/elsewhere"), at: .keys, call: 1)
        tenant.addFault(.contentType("text/html"), at: .keys, call: 2)
        tenant.addFault(.body([0xef, 0xbb, 0xbf, 0x7b]), at: .keys, call: 3)
        tenant.addFault(.answer(.init(200, .text("no"))), at: .keys, call: 4)
        tenant.addFault(.rewrite { .init(418, headers: $0.headers, .empty) }, at: .keys, call: 5)
        #expect(try await PlainHTTP.send("GET", url).header("location") == "http://localhost/elsewhere")
        #expect(try await PlainHTTP.send("GET", url).header("content-type") == "text/html")
        #expect(try await PlainHTTP.send("GET", url).body == [0xef, 0xbb, 0xbf, 0x7b])
        #expect(try await PlainHTTP.send("GET", url).text == "no")
        #expect(try await PlainHTTP.send("GET", url).status == 418)
    }

    @Test func changesMembersOfFormsToo() async throws {
        let tenant = try await TestProvider.tenant(.github)
        let client = ReferenceClient(tenant: tenant, authentication: .post, nonce: nil).registered()
        tenant.everyLogin(ada)
        tenant.addFault(.members(set: ["scope": "gist"]), at: .token)
        let code = try #require(try await client.authorize().query["code"])
        #expect(FormFields(try await client.exchange(code, accept: "*/*").text)["scope"] == "gist")
    }

    @Test func recordsWhatItReceived() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        tenant.everyLogin(ada)
        let code = try #require(try await client.authorize().query["code"])
        _ = try await client.exchange(code)
        #expect(tenant.requests().map(\.endpoint) == [.authorization, .token])
        let request = try #require(tenant.requests(.token).first)
        #expect(request.fields["code"] == code)
        #expect(request.header("CONTENT-TYPE") == "application/x-www-form-urlencoded")
        #expect(request.status == 200)
    }
}
