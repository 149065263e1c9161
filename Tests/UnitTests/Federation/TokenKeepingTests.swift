import Federation
import Testing

@Suite("Stored provider tokens")
struct TokenKeepingTests {
    private static let all = ProviderTokens(
        idToken: "id",
        accessToken: "access",
        refreshToken: "refresh",
        tokenSecret: "secret",
        authorizationCode: "code",
        expiresIn: 60,
        issuedAt: 1,
        scopes: ["email"]
    )

    @Test("R-18: nothing, what revocation needs, or all but the code")
    func keeps() {
        var kept = Self.all
        kept.authorizationCode = nil
        #expect(TokenKeeping.nothing.kept(of: Self.all) == nil)
        #expect(TokenKeeping.revocable.kept(of: Self.all) == ProviderTokens(refreshToken: "refresh"))
        #expect(TokenKeeping.all.kept(of: Self.all) == kept)
    }

    @Test("R-18: keeps no tokens brought by an app, and nothing when the needed tokens are missing")
    func keepsNothing() {
        var brought = Self.all
        brought.issuedAt = nil
        for keeping in [TokenKeeping.nothing, .revocable, .all] { #expect(keeping.kept(of: brought) == nil) }
        var poor = Self.all
        poor.refreshToken = nil
        #expect(TokenKeeping.revocable.kept(of: poor) == ProviderTokens(accessToken: "access"))
        poor.accessToken = nil
        for keeping in [TokenKeeping.nothing, .revocable, .all] { #expect(keeping.kept(of: poor) == nil) }
    }
}
