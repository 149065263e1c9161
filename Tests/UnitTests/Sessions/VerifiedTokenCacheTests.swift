import Domain
import Projects
import Secrets
import Sessions
import Testing

@Suite struct VerifiedTokenCacheTests {
    private let cache = VerifiedTokenCache(capacity: 8)

    private func verify(
        _ token: String,
        project: String = "demo-project",
        issuer: String = TokenParts.issuer,
        tenant: TenantID? = nil,
        keys: SigningKeys? = nil,
        now: Int64 = TokenParts.now
    ) throws -> VerifiedIDToken {
        let project = try #require(ProjectID(rawValue: project))
        return try IDTokenVerifier(cache: cache).verify(
            token,
            project: project,
            issuers: [issuer],
            tenant: tenant,
            keys: keys ?? TestKeys.all(),
            now: now
        )
    }

    @Test func givesTheSameAnswerAgain() throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        let first = try verify(token)
        #expect(cache.count == 1)
        #expect(try verify(token) == first)
        #expect(cache.count == 1)
    }

    @Test func issuerAudienceTenantAndTimesAreLookedAtEachTime() throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        _ = try verify(token)
        #expect(throws: IDTokenError.wrongIssuer) { try verify(token, issuer: "other") }
        #expect(throws: IDTokenError.wrongAudience) { try verify(token, project: "other-project") }
        #expect(throws: IDTokenError.wrongTenant) { try verify(token, tenant: TenantID(rawValue: "t1")) }
        #expect(throws: IDTokenError.expired) { try verify(token, now: TokenParts.now + 3600) }
        #expect(throws: IDTokenError.issuedInFuture) { try verify(token, now: TokenParts.now - 301) }
        _ = try verify(token)
    }

    @Test("T-D8: a key that was taken away takes remembered tokens with it") func removedKey() throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        _ = try verify(token)
        let remaining = SigningKeys([try TestKeys.es256(), try TestKeys.otherRS256()])
        #expect(throws: IDTokenError.unknownKey) { try verify(token, keys: remaining) }
        _ = try verify(token)  // the key is back
    }

    @Test("T-D4: a token that the process has made needs no look at its signature, and no other token passes for it")
    func madeHere() throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        let parts = token.split(separator: ".")
        let forged = "\(parts[0]).\(parts[1])." + Base64URL.encode([UInt8](repeating: 1, count: 256))
        #expect(throws: IDTokenError.badSignature) { try verify(forged) }
        IDTokenVerifier(cache: cache).remember(token)
        #expect(cache.count == 1)
        _ = try verify(token)
        #expect(cache.count == 1)
        #expect(throws: IDTokenError.badSignature) { try verify(forged) }
        #expect(throws: IDTokenError.expired) { try verify(token, now: TokenParts.now + 3600) }
        // Of what is remembered the signature is not looked at, the key is.
        IDTokenVerifier(cache: cache).remember(forged)
        _ = try verify(forged)
        let remaining = SigningKeys([try TestKeys.es256(), try TestKeys.otherRS256()])
        #expect(throws: IDTokenError.unknownKey) { try verify(forged, keys: remaining) }
    }

    @Test func whatWasRefusedIsNotRemembered() throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        #expect(throws: IDTokenError.self) { try verify(token, project: "other-project") }
        #expect(throws: IDTokenError.self) { try verify(token + "A") }
        #expect(throws: IDTokenError.self) { try verify(token, now: TokenParts.now + 3600) }
        #expect(cache.count == 0)
    }

    @Test func neverHoldsMoreThanItsCapacity() throws {
        let key = try TestKeys.es256()
        let tokens = try (0..<40).map { number in
            var claims = try TokenParts.claims()
            claims.account = AccountID("a\(number)")
            return try IDTokenMinter.mint(claims, with: key)
        }
        for (number, token) in tokens.enumerated() {
            #expect(try verify(token).account == AccountID("a\(number)"))
            #expect(try verify(tokens[0]).account == AccountID("a0"))
            #expect(cache.count <= 8)
        }
        for (number, token) in tokens.enumerated() { #expect(try verify(token).account == AccountID("a\(number)")) }
    }
}
