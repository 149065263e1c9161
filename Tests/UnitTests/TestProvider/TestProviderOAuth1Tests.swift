import Development
import Federation
import Foundation
import TestKit
import Testing
import Text

/// The test provider's OAuth 1.0a takes what RFC 5849 describes, and notes the rest.
@Suite(.testProvider)
struct TestProviderOAuth1Tests {
    /// A signed request for a request token, and what can be wrong with it.
    fileprivate struct Request {
        var tenant: TestTenant
        var consumer = "client"
        var secret = "client-secret"
        var method = "HMAC-SHA1"
        var timestamp = Int(Date().timeIntervalSince1970)
        var nonce = "nonce-1"
        var callback = "http://localhost/callback?state=s"
        var spoil: @Sendable (String) -> String = { $0 }

        func send() async throws -> PlainResponse {
            let url = tenant.url(.requestToken) ?? ""
            var parameters: [(name: String, value: String)] = [
                ("oauth_callback", callback), ("oauth_consumer_key", consumer), ("oauth_nonce", nonce),
                ("oauth_signature_method", method), ("oauth_timestamp", String(timestamp)),
            ]
            let base = OAuth1Signature.baseString("POST", url, parameters)
            let signature = OAuth1Signature.hmacSHA1(base, clientSecret: secret, tokenSecret: "")
            parameters.append(("oauth_signature", spoil(signature)))
            let header = parameters.map { "\($0.name)=\"\(PercentEncoding.encode($0.value))\"" }.joined(separator: ", ")
            return try await PlainHTTP.send("POST", url, headers: [("Authorization", "OAuth " + header)], body: [])
        }
    }

    private static func tenant() async throws -> TestTenant {
        let tenant = try await TestProvider.tenant(.twitter1)
        tenant.addClient(redirects: .exact(["http://localhost/callback"]))
        return tenant
    }

    @Test func answersARequestAsTheSpecificationHasIt() async throws {
        let tenant = try await Self.tenant()
        let answer = try await Request(tenant: tenant).send()
        answer.expectOK()
        #expect(FormFields(answer.text)["oauth_callback_confirmed"] == "true")
        #expect(FormFields(answer.text)["oauth_token"]?.isEmpty == false)
        #expect(tenant.violations.isEmpty)
    }

    struct Mistake: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rule: Violation.Rule
        fileprivate var spoil: @Sendable (inout Request) -> Void
    }

    static let mistakes = [
        Mistake(testDescription: "another secret", rule: .signature) { $0.secret = "other" },
        Mistake(testDescription: "another signature", rule: .signature) { $0.spoil = { String($0.reversed()) } },
        Mistake(testDescription: "no signature", rule: .signature) { $0.spoil = { _ in "" } },
        Mistake(testDescription: "in clear", rule: .signature) { $0.method = "PLAINTEXT" },
        Mistake(testDescription: "an old timestamp", rule: .timestamp) { $0.timestamp -= 301 },
        Mistake(testDescription: "a timestamp to come", rule: .timestamp) { $0.timestamp += 302 },
        Mistake(testDescription: "no nonce", rule: .nonce) { $0.nonce = "" },
        Mistake(testDescription: "an unknown client", rule: .unknownClient) { $0.consumer = "other" },
        Mistake(testDescription: "another callback", rule: .redirectURI) {
            $0.callback = "http://localhost/other?state=s"
        },
        Mistake(testDescription: "no state", rule: .state) { $0.callback = "http://localhost/callback" },
    ]

    @Test(arguments: mistakes)
    func notesAMistake(_ mistake: Mistake) async throws {
        let tenant = try await Self.tenant()
        var request = Request(tenant: tenant)
        mistake.spoil(&request)
        let answer = try await request.send()
        #expect((answer.status == 200) == (mistake.rule == .state))
        #expect(tenant.violations.map(\.rule) == [mistake.rule])
    }

    @Test func takesANonceOnce() async throws {
        let tenant = try await Self.tenant()
        let request = Request(tenant: tenant)
        try await request.send().expectOK()
        #expect(try await request.send().status == 401)
        #expect(tenant.violations.map(\.rule) == [.nonce])
    }
}
