import Domain
import Projects
import Sessions
import Testing

@Suite struct IDTokenVerifierTests {
    private let project: ProjectID
    private let keys: SigningKeys
    private let key: SigningKey

    init() throws {
        project = try TokenParts.project()
        keys = try TestKeys.all()
        key = try TestKeys.es256()
    }

    private func verify(
        _ token: String,
        tenant: TenantID? = nil,
        now: Int64 = TokenParts.now
    ) throws(IDTokenError) -> VerifiedIDToken {
        try IDTokenVerifier()
            .verify(token, project: project, issuers: [TokenParts.issuer], tenant: tenant, keys: keys, now: now)
    }

    private func verify(
        _ claims: IDTokenClaims,
        tenant: TenantID? = nil,
        now: Int64 = TokenParts.now
    ) throws
        -> VerifiedIDToken
    {
        try verify(IDTokenMinter.mint(claims, with: key), tenant: tenant, now: now)
    }

    @Test(arguments: SigningAlgorithm.allCases) func readsWhatWasMinted(_ algorithm: SigningAlgorithm) throws {
        var claims = try TokenParts.claims()
        claims.tenant = TenantID(rawValue: "t1")
        claims.secondFactor = .init(kind: "totp", enrollment: "e1")
        claims.accountClaims = #"{"nested":{"firebase":{"sid":"x"}}}"#
        let token = try verify(IDTokenMinter.mint(claims, with: TestKeys.key(algorithm)))
        #expect(token.account == claims.account)
        #expect(token.session == claims.session)
        #expect(token.tenant == claims.tenant)
        #expect(token.authTime == claims.authTime)
        #expect(token.issuedAt == claims.issuedAt)
        #expect(token.expiresAt == claims.issuedAt + 3600)
        #expect(token.signInProvider == .google)
        #expect(token.secondFactor == claims.secondFactor)
        #expect(try token.kid == TestKeys.key(algorithm).kid)
    }

    @Test func readsATokenThatSaysLittle() throws {
        let token = try verify(TokenParts.claims(provider: .emailLink))
        #expect(token.tenant == .none)
        #expect(token.secondFactor == nil)
        #expect(token.signInProvider == .password)
    }

    @Test(
        arguments: [
            (0, nil), (3599, nil), (3600, .expired), (3601, .expired), (-300, nil), (-301, .issuedInFuture),
        ] as [(Int64, IDTokenError?)]
    )
    func times(_ offset: Int64, _ error: IDTokenError?) throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: key)
        let outcome = Result { () throws(IDTokenError) in try verify(token, now: TokenParts.now + offset) }
        if let error {
            #expect(throws: error) { try outcome.get() }
        } else {
            #expect(throws: Never.self) { try outcome.get() }
        }
    }

    @Test("T-D1: a token of another project, issuer or tenant is refused") func places() throws {
        var claims = try TokenParts.claims()
        claims.project = try #require(ProjectID(rawValue: "other-project"))
        #expect(throws: IDTokenError.wrongAudience) { try verify(claims) }
        claims = try TokenParts.claims()
        let issuers = [
            "https://securetoken.google.com/other-project", "https://session.firebase.google.com/demo-project",
            "https://securetoken.google.com/demo-project/", "https://securetoken.google.com/Demo-project", "",
        ]
        for issuer in issuers {
            claims.issuer = issuer
            #expect(throws: IDTokenError.wrongIssuer) { try verify(claims) }
        }
        claims = try TokenParts.claims()
        let tenant = TenantID(rawValue: "t1")
        #expect(throws: IDTokenError.wrongTenant) { try verify(claims, tenant: tenant) }
        #expect(throws: Never.self) { try verify(claims, tenant: TenantID.none) }
        claims.tenant = tenant
        #expect(throws: IDTokenError.wrongTenant) { try verify(claims, tenant: TenantID.none) }
        #expect(throws: IDTokenError.wrongTenant) { try verify(claims, tenant: TenantID(rawValue: "t2")) }
        #expect(try verify(claims, tenant: tenant).tenant == tenant)
        #expect(try verify(claims).tenant == tenant)
        claims.tenant = TenantID(rawValue: "\u{212a}unden")
        #expect(throws: IDTokenError.wrongTenant) { try verify(claims, tenant: TenantID(rawValue: "Kunden")) }
    }

    @Test func whatIsWrongIsLookedAtInOrder() throws {
        var claims = try TokenParts.claims()
        claims.project = try #require(ProjectID(rawValue: "other-project"))
        claims.issuer = "other"
        claims.tenant = TenantID(rawValue: "t1")
        let late = TokenParts.now + 9999
        #expect(throws: IDTokenError.wrongIssuer) { try verify(claims, tenant: TenantID.none, now: late) }
        claims.issuer = TokenParts.issuer
        #expect(throws: IDTokenError.wrongAudience) { try verify(claims, tenant: TenantID.none, now: late) }
        claims.project = project
        #expect(throws: IDTokenError.wrongTenant) { try verify(claims, tenant: TenantID.none, now: late) }
        claims.tenant = .none
        #expect(throws: IDTokenError.expired) { try verify(claims, tenant: TenantID.none, now: late) }
    }

    /// All signed properly by our own key, so that nothing but the claims can be the reason.
    @Test func refusesAPayloadThatIsNotOurs() throws {
        let good = try TokenParts(TokenParts.claims(), key: key)
        #expect(throws: Never.self) { try verify(good.signed(by: key)) }
        let changes = [
            (#""iss":"#, #""isz":"#), (#""aud":"#, #""auz":"#), (#""sub":"#, #""suz":"#), (#""user_id":"#, #""x":"#),
            (#""iat":"#, #""iaz":"#), (#""exp":"#, #""exz":"#), (#""auth_time":"#, #""x":"#), (#""sid":"#, #""x":"#),
            (#""sign_in_provider":"#, #""x":"#), (#""firebase":"#, #""x":"#),
            (#""aud":"demo-project""#, #""aud":["demo-project"]"#), (#""iss":""#, #""iss":null,"x":""#),
            (#""sub":"abcdefghijklmnopqrstuvwxyz01""#, #""sub":"other""#),
            (#""sub":"abcdefghijklmnopqrstuvwxyz01""#, #""sub":1"#), (#""exp":1790003700"#, #""exp":"1790003700""#),
            (#""exp":1790003700"#, #""exp":1790003700.0"#), (#""exp":1790003700"#, #""exp":1.7900037e9"#),
            (#""exp":1790003700"#, #""exp":null"#), (#""exp":1790003700"#, #""exp":99999999999999999999"#),
            (#""iat":1790000100"#, #""iat":true"#), (#""sid":""#, #""sid":"A"#), (#""sid":""#, #""sid":null,"x":""#),
            (#""firebase":{"#, #""firebase":[],"x":{"#), (#""sid":"#, #""tenant":"","sid":"#),
            (#""sid":"#, #""tenant":null,"sid":"#), (#""sid":"#, #""tenant":{},"sid":"#),
            (#""sid":"#, #""sign_in_second_factor":"totp","sid":"#),
            (#""sid":"#, #""second_factor_identifier":"e1","sid":"#),
        ]
        for (old, new) in changes {
            var parts = good
            #expect(parts.payload.contains(old))
            parts.payload = parts.payload.replacing(old, with: new)
            #expect(throws: IDTokenError.malformed, "\(new)") { try verify(parts.signed(by: key)) }
        }
        for subject in [#""sub":"""#, #""sub":null"#] {
            var parts = good
            parts.payload = parts.payload.replacing(#""sub":"abcdefghijklmnopqrstuvwxyz01""#, with: subject)
                .replacing(#""user_id":"abcdefghijklmnopqrstuvwxyz01""#, with: #""user_id":"""#)
            #expect(throws: IDTokenError.malformed) { try verify(parts.signed(by: key)) }
        }
    }

    @Test("T-D2: a member that is there twice is refused, whichever reading is right")
    func duplicateMembers() throws {
        let good = try TokenParts(TokenParts.claims(), key: key)
        let additions = [
            #""sub":"abcdefghijklmnopqrstuvwxyz01","#, #""sub":"victim","#, #""\u0073ub":"victim","#, #""exp":1,"#,
            #""x":1,"x":1,"#, #""x":{"y":1,"y":1},"#, #""firebase":{},"#,
        ]
        for addition in additions {
            var parts = good
            parts.payload = "{" + addition + parts.payload.dropFirst()
            #expect(throws: IDTokenError.malformed, "\(addition)") { try verify(parts.signed(by: key)) }
        }
        var nested = good
        nested.payload = nested.payload.replacing(#""sid":"#, with: #""sid":"BAECAwQFBgcICQoLDA0ODw","sid":"#)
        #expect(throws: IDTokenError.malformed) { try verify(nested.signed(by: key)) }
        var header = good
        header.header = #"{"alg":"ES256","alg":"ES256","kid":"\#(key.kid)","typ":"JWT"}"#
        #expect(throws: IDTokenError.malformed) { try verify(header.signed(by: key)) }
    }

    @Test func refusesPayloadsThatAreNoObject() throws {
        let good = try TokenParts(TokenParts.claims(), key: key)
        let payloads = JSONSamples.refused + [good.payload + " {}", good.payload + "\u{0}", "\u{feff}" + good.payload]
        for payload in payloads where payload.utf8.count < IDTokenVerifier.maximumLength / 2 {
            var parts = good
            parts.payload = payload
            #expect(throws: IDTokenError.malformed, "\(payload.prefix(60))") { try verify(parts.signed(by: key)) }
        }
        var spaced = good
        spaced.payload = " \n" + spaced.payload + "\t"
        #expect(throws: Never.self) { try verify(spaced.signed(by: key)) }
    }

    @Test func refusesATokenThatIsTooLong() throws {
        var claims = try TokenParts.claims()
        claims.name = String(repeating: "x", count: 40_000)
        #expect(throws: Never.self) { try verify(claims) }
        claims.name = String(repeating: "x", count: 60_000)
        #expect(throws: IDTokenError.malformed) { try verify(claims) }
    }
}
