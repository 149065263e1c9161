import Foundation
import IdentityCore
import IdentityServer
import IdentityTestKit
import Testing

/// Tokens that PyJWT signed (`make_vectors.py`), valid and invalid.
struct Vectors: Decodable, Sendable {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var token: String
        var error: String?
        var cookie: Bool

        var testDescription: String { name }
    }

    var now: TimeInterval
    var cases: [Case]

    static let keys = Result { try document().keys }
    static let all = Result { try document().vectors }

    private static func document() throws -> (keys: String, vectors: Vectors) {
        let url = try #require(Bundle.module.url(forResource: "vectors", withExtension: "json"))
        let data = try Data(contentsOf: url)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let keys = try JSONSerialization.data(withJSONObject: try #require(json["keys"]))
        return (String(decoding: keys, as: UTF8.self), try JSONDecoder().decode(Vectors.self, from: data))
    }

    static func token(_ name: String) throws -> String {
        try #require(try all.get().cases.first { $0.name == name }).token
    }
}

@Suite struct VerifierTests {
    @Test(arguments: try Vectors.all.get().cases)
    func judgesAsPyJWTSigned(_ vector: Vectors.Case) async throws {
        let keys = try KeyServer()
        let verifier = try keys.verifier()
        // The second time, a valid one comes from the cache.
        for _ in 0..<2 {
            do {
                let token =
                    vector.cookie
                    ? try await verifier.verify(sessionCookie: vector.token)
                    : try await verifier.verify(idToken: vector.token)
                #expect(vector.error == nil)
                #expect(token.uid == "ada")
                #expect(token.claims["role"]?.stringValue == "admin")
                #expect(token.isEmailVerified)
                #expect(token.sessionID == "s1")
                if vector.name == "text beyond ASCII" { #expect(token.name == "Ada Löveläce 😀\n\"\\/") }
            } catch {
                #expect("\(error)" == vector.error)
            }
        }
    }

    @Test func judgesTenants() async throws {
        let keys = try KeyServer()
        let token = try Vectors.token("a tenant's account")
        #expect(try await keys.verifier(tenants: .only("t1")).verify(idToken: token).tenantID == "t1")
        #expect(try await keys.verifier(tenants: .all).verify(idToken: token).tenantID == "t1")
        await #expect(throws: TokenError.tenant) {
            try await keys.verifier(tenants: .only("t2")).verify(idToken: token)
        }
    }

    @Test func aKnownTokenExpires() async throws {
        let keys = try KeyServer()
        let verifier = try keys.verifier()
        let token = try Vectors.token("RS256")
        _ = try await verifier.verify(idToken: token)
        keys.advance(by: 3600)
        await #expect(throws: TokenError.expired) { try await verifier.verify(idToken: token) }
    }

    @Test func aThousandTokensCauseOneRequest() async throws {
        let keys = try KeyServer()
        let verifier = try keys.verifier(cacheSize: 0)
        let token = try Vectors.token("ES256")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { _ = try await verifier.verify(idToken: token) } }
            try await group.waitForAll()
        }
        #expect(keys.requests == 1)
    }

    @Test func nobodyIsRefusedWhileTheKeysAreDownForAnHour() async throws {
        let keys = try KeyServer()
        // The keys are 29 minutes old when the service goes down.
        let verifier = try keys.verifier(cacheSize: 0)
        let token = try Vectors.token("expired within the skew")
        _ = try await verifier.verify(idToken: token)
        keys.answer(nil)
        for second in stride(from: 29.0 * 60, to: 90 * 60, by: 10) {
            keys.setUptime(second)
            _ = try await verifier.verify(idToken: token)
        }
        keys.setUptime(7200)
        await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(idToken: token) }
        // Renewals are tried every five seconds at most.
        #expect(keys.requests <= 370)
        #expect(keys.requests > 1)
    }

    @Test func anUnknownKeyCausesOneRequestAMinute() async throws {
        let keys = try KeyServer()
        let verifier = try keys.verifier()
        let token = try Vectors.token("an unknown key")
        for second in 0..<60 {
            keys.setUptime(Double(second))
            await #expect(throws: TokenError.unknownKey) { try await verifier.verify(idToken: token) }
        }
        #expect(keys.requests == 1)
        keys.setUptime(61)
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(idToken: token) }
        #expect(keys.requests == 2)
    }

    @Test func aKnownTokenOfARemovedKeyIsRefused() async throws {
        let keys = try KeyServer()
        let verifier = try keys.verifier()
        let token = try Vectors.token("RS256")
        _ = try await verifier.verify(idToken: token)
        keys.answer(
            #"{"keys":[{"kty":"EC","kid":"new","crv":"P-256","use":"sig","alg":"ES256","x":"\#(Self.x)","y":"\#(Self.y)"}]}"#
        )
        // From half an hour on, keys are renewed in the background; after the maximum age, before the answer.
        keys.setUptime(7201)
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(idToken: token) }
    }

    /// The public key of RFC 7515 A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
}

/// A server of keys, with a clock that the test moves.
final class KeyServer: Sendable {
    private struct State {
        var answer: String?
        var requests = 0
        var uptime = 0.0
        var elapsed = 0.0
    }

    private let server: TestServer
    private let state: Protected<State>
    private let start = ContinuousClock.now
    private let now: TimeInterval

    init() throws {
        let state = Protected(State(answer: try Vectors.keys.get()))
        self.state = state
        self.now = try Vectors.all.get().now
        self.server = try TestServer { _ in
            state.withLock {
                $0.requests += 1
                return $0.answer.map { TestServer.response(200, $0) }
            }
        }
    }

    var requests: Int { state.withLock { $0.requests } }
    func answer(_ text: String?) { state.withLock { $0.answer = text } }
    func setUptime(_ seconds: Double) { state.withLock { $0.uptime = seconds } }
    func advance(by seconds: Double) { state.withLock { $0.elapsed += seconds } }

    func verifier(tenants: TokenVerifier.Tenants = .none, cacheSize: Int = 100) throws -> TokenVerifier {
        TokenVerifier(
            url: server.url,
            projectID: "my-project",
            issuers: ["https://securetoken.google.com/my-project", "https://auth.example.com/my-project"],
            tenants: tenants,
            cacheSize: cacheSize,
            now: { [state, now] in Date(timeIntervalSince1970: now + state.withLock { $0.elapsed }) },
            uptime: { [state, start] in start.advanced(by: .seconds(state.withLock { $0.uptime })) }
        )
    }
}
