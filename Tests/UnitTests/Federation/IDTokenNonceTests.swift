import Crypto
import CryptoExtras
import Domain
import Federation
import Foundation
import Secrets
import Testing

/// Nonces of ID tokens, of web flows and of apps.
@Suite struct IDTokenNonceTests {
    @Test("T-C4: a web flow's token carries exactly the flow's nonce") func serverNonce() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let other = try await world.start(configuration)
            for nonce in [
                nil, "\"\"", "\"other\"", "1", "null", other.flow.nonce.map { "\"\($0)\"" },
            ] {
                let request = try await world.start(configuration)
                let token = try world.idToken(["nonce": nonce])
                world.server.on("/token", .json(#"{"access_token":"at-1","id_token":"\#(token)"}"#))
                await #expect(throws: FederationError.nonceMismatch) { try await world.finish(request, configuration) }
            }
            let request = try await world.start(configuration)
            let hashed = SecureHash.sha256Hex(try #require(request.flow.nonce))
            try world.answerToken(for: request, claims: ["nonce": "\"\(hashed)\""])
            await #expect(throws: FederationError.nonceMismatch) { try await world.finish(request, configuration) }
            // Where none was sent, a token with one belongs to somebody else's sign-in.
            let silent = world.oidc(definition: #"{"sendNonce":false}"#)
            let plain = try await world.start(silent)
            #expect(plain.flow.nonce == nil)
            try world.answerToken(for: plain, claims: ["nonce": "\"n\""])
            await #expect(throws: FederationError.nonceMismatch) { try await world.finish(plain, silent) }
            try world.answerToken(for: plain)
            _ = try await world.finish(plain, silent)
        }
    }

    @Test("T-C4: where the provider's SDK hides its nonce, it is compared if it was sent, and the token is taken once")
    func hiddenNonce() async throws {
        try await FederationWorld.run { world in
            let lenient = world.oidc(definition: #"{"idToken":{"rawNonce":"ifSent"}}"#)
            let token = try world.idToken(["nonce": "\"\(SecureHash.sha256Hex("raw"))\""])
            #expect(try await world.verify(token, with: lenient).oneTimeToken != nil)
            #expect(try await world.verify(token, nonce: "raw", with: lenient).nonce == "raw")
            for other in ["Raw", "other"] {
                await #expect(throws: FederationError.nonceMismatch) {
                    try await world.verify(token, nonce: other, with: lenient)
                }
            }
            let both = world.oidc(definition: #"{"idToken":{"rawNonce":"ifSent","requiresNonce":true}}"#)
            let plain = try world.idToken()
            await #expect(throws: FederationError.nonceMissingInRequest) { try await world.verify(plain, with: both) }
            #expect(try await world.verify(token, with: both).oneTimeToken != nil)
        }
    }

    @Test("T-C4: a native token with a nonce needs the raw one, and can be taken once") func clientNonce() async throws
    {
        try await FederationWorld.run { world in
            let hashed = "\"\(SecureHash.sha256Hex("raw"))\""
            let token = try world.idToken(["nonce": hashed])
            await #expect(throws: FederationError.nonceMissingInRequest) { try await world.verify(token) }
            await #expect(throws: FederationError.nonceMismatch) { try await world.verify(token, nonce: "other") }
            let credential = try await world.verify(token, nonce: "raw")
            #expect(credential.nonce == "raw")
            // What was signed, without the signature.
            let signed = token.prefix(upTo: try #require(token.lastIndex(of: ".")))
            #expect(credential.oneTimeToken?.hash == SecureHash.sha256(String(signed)))
            #expect(credential.oneTimeToken?.expiresAt == world.clock.seconds + 3660)
            for claim in ["\"raw\"", hashed.uppercased(), "\"\"", "1", "{}"] {
                let bad = try world.idToken(["nonce": claim])
                await #expect(throws: FederationError.nonceMismatch) { try await world.verify(bad, nonce: "raw") }
            }
            // A nonce that the token does not know is no reason to refuse it.
            let plain = try await world.verify(try world.idToken(), nonce: "raw")
            #expect(plain.oneTimeToken == nil)
            #expect(plain.nonce == nil)
        }
    }

    @Test(arguments: [
        ("exact", "raw", true), ("exact", "hash", false), ("either", "raw", true), ("either", "hash", true),
    ])
    func aDefinitionMaySayHowNoncesCompare(_ form: String, _ claim: String, _ accepted: Bool) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"idToken":{"nonce":"\#(form)"}}"#)
            let token = try world.idToken(["nonce": "\"\(claim == "raw" ? "raw" : SecureHash.sha256Hex("raw"))\""])
            if accepted {
                _ = try await world.verify(token, nonce: "raw", with: configuration)
            } else {
                await #expect(throws: FederationError.nonceMismatch) {
                    try await world.verify(token, nonce: "raw", with: configuration)
                }
            }
        }
    }
}
