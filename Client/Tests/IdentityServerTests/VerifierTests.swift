import Foundation
import IdentityServerTestKit
import IdentityServer
import Testing

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
        // The first of these may wait for a renewal of before, which found the connection closed.
        for second in stride(from: 7200.0, to: 7300, by: 10) where second == 7200 || keys.requests == 1 {
            keys.setUptime(second)
            await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(idToken: token) }
        }
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
