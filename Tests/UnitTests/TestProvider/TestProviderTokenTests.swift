import Crypto
import Development
import Foundation
import Secrets
import StrictJSON
import TestKit
import Testing
import Text

/// ID tokens and keys that are wrong in exactly the way that was asked for.
@Suite(.testProvider)
struct TestProviderTokenTests {
    private let ada = TestUser("1001", email: "ada@example.com", name: "Ada")

    private func read(_ token: String, _ tenant: TestTenant) async throws -> ReferenceVerifier.Token {
        let keys = try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").json()
        return try ReferenceVerifier.read(token, keys: keys)
    }

    @Test func changesClaimsAndHeader() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let changes = IDTokenChanges(
            set: ["aud": ["client", "other"], "exp": "3600", "deep": ["a": [1, .null, 1.5]]],
            remove: ["sub"],
            header: ["jku": "https://evil.test"],
            removeHeader: ["typ"]
        )
        let token = try await read(try tenant.mintIDToken(for: ada, nonce: "n", changes: changes), tenant)
        #expect(token.isSigned)
        #expect(token.claims["aud"] as? [String] == ["client", "other"])
        #expect(token.claims["exp"] as? String == "3600")
        #expect(token.claims["sub"] == nil)
        #expect(token.claims["nonce"] as? String == "n")
        #expect(token.header["jku"] as? String == "https://evil.test")
        #expect(token.header["typ"] == nil)
    }

    @Test func writesAPayloadAsItIsGiven() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let payload = #"{"sub":"a","sub":"b"}"#
        let token = try tenant.mintIDToken(for: ada, changes: .init(payload: payload))
        let part = token.split(separator: ".")[1]
        #expect(Base64URL.decode(part) == Array(payload.utf8))
    }

    @Test func forgesSignatures() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let unsigned = try tenant.mintIDToken(for: ada, changes: .unsigned(algorithm: "NONE"))
        #expect(unsigned.hasSuffix("."))
        let secret = Array(try tenant.signingKey().publicKeyPEM.utf8)
        let forged = try tenant.mintIDToken(for: ada, changes: .hmac(secret))
        let dot = try #require(forged.lastIndex(of: "."))
        let expected = HMAC<SHA256>.authenticationCode(for: Array(forged[..<dot].utf8), using: .init(data: secret))
        #expect(Base64URL.decode(forged[forged.index(after: dot)...]) == [UInt8](expected))
        for changes in [
            IDTokenChanges(signature: .bytes([1, 2, 3])),
            .init(key: try TestSigningKey(kid: "x", kind: .rs256, number: 1)),
        ] {
            #expect(try await read(try tenant.mintIDToken(for: ada, changes: changes), tenant).isSigned == false)
        }
        #expect(try tenant.mintIDToken(for: ada, changes: .init(rewrite: { $0 + ".x" })).hasSuffix(".x"))
    }

    @Test func changesTheTokenOfOneLogin() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        tenant.nextLogin(ScriptedLogin(ada, idToken: .init(set: ["nonce": "wrong"]), grantedScopes: ["openid"]))
        tenant.everyLogin(ada)
        for (expected, email) in [("wrong", nil), ("the-nonce", "ada@example.com")] as [(String, String?)] {
            let code = try #require(try await client.authorize().query["code"])
            let tokens = try await client.exchange(code).json()
            let token = try await read(try #require(tokens["id_token"] as? String), tenant)
            #expect(token.claims["nonce"] as? String == expected)
            #expect(token.claims["email"] as? String == email)
        }
    }

    @Test func rotatesKeys() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let old = try tenant.mintIDToken(for: ada)
        #expect(try await read(old, tenant).isSigned)
        let early = try tenant.rotateKeys(publish: false)
        let new = try tenant.mintIDToken(for: ada)
        #expect(try await read(old, tenant).isSigned)
        #expect(try await read(new, tenant).isSigned == false)
        tenant.publishKeys(only: [early.kid])
        #expect(try await read(old, tenant).isSigned == false)
        #expect(try await read(new, tenant).isSigned)
    }

    @Test func publishesOddKeys() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        try tenant.addRawKey(#"{"kty":"oct","k":"AA"}"#, first: true)
        let curve = tenant.addKey(try TestSigningKey(kid: "curve", kind: .es256))
        let keys = try #require(
            try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").json()["keys"] as? [[String: Any]]
        )
        #expect(keys.map { $0["kty"] as? String } == ["oct", "RSA", "EC"])
        let token = try tenant.mintIDToken(for: ada, changes: .init(key: curve))
        #expect(try await read(token, tenant).isSigned)
        let der = try tenant.mintIDToken(for: ada, changes: .init(key: curve, signature: .der))
        #expect(der.utf8.count > token.utf8.count)
        tenant.sign(with: "curve")
        #expect(try await read(try tenant.mintIDToken(for: ada), tenant).header["kid"] as? String == "curve")
    }

    @Test func tenantsKnowNothingOfEachOther() async throws {
        let one = try await TestProvider.tenant(.genericOIDC)
        let two = try await TestProvider.tenant(.genericOIDC)
        #expect(try await read(try one.mintIDToken(for: ada), two).isSigned == false)
        let access = one.mintAccessToken(for: ada)
        #expect(try await ReferenceClient(tenant: two).get(.userinfo, token: access).status == 401)
        #expect(two.requests(.userinfo).count == 1)
        #expect(one.requests(.userinfo).isEmpty)
    }
}
