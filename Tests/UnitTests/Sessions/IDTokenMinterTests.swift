import Domain
import Foundation
import Projects
import Secrets
import Sessions
import Testing

@Suite struct IDTokenMinterTests {
    private func payload(_ claims: IDTokenClaims) throws -> NSDictionary {
        let parts = try TokenParts(claims, key: TestKeys.es256())
        return try #require(try JSONSerialization.jsonObject(with: Data(parts.payload.utf8)) as? NSDictionary)
    }

    private func firebase(_ claims: IDTokenClaims) throws -> NSDictionary {
        try #require(try payload(claims)["firebase"] as? NSDictionary)
    }

    @Test(arguments: SigningAlgorithm.allCases) func headerIsExactlyAlgKidTyp(_ algorithm: SigningAlgorithm) throws {
        let key = try TestKeys.key(algorithm)
        let header = try TokenParts(TokenParts.claims(), key: key).header
        #expect(header == #"{"alg":"\#(algorithm.rawValue)","kid":"\#(key.kid)","typ":"JWT"}"#)
    }

    @Test func anAccountOfWhichNothingIsKnown() throws {
        #expect(
            try TokenParts(TokenParts.claims(), key: TestKeys.es256()).payload
                == #"{"iss":"https://securetoken.google.com/demo-project","aud":"demo-project","#
                + #""auth_time":1790000050,"user_id":"abcdefghijklmnopqrstuvwxyz01","#
                + #""sub":"abcdefghijklmnopqrstuvwxyz01","iat":1790000100,"exp":1790003700,"#
                + #""firebase":{"identities":{},"sign_in_provider":"google.com","sid":"AAECAwQFBgcICQoLDA0ODw","jti":"AAECAwQFBgcICQoL"}}"#
        )
    }

    @Test func everythingAtOnceInFirebasesOrder() throws {
        var claims = try TokenParts.claims()
        claims.tenant = TenantID(rawValue: "tenant-1")
        claims.name = "Ada"
        claims.picture = "https://example.com/a.png"
        claims.email = "ada@example.com"
        claims.emailVerified = true
        claims.phoneNumber = "+15555550100"
        claims.identities = ["phone": ["+15555550100"], "google.com": ["g1"], "email": ["ada@example.com"]]
        claims.accountClaims = #"{"role":"admin","level":1}"#
        claims.sessionClaims = #"{"level":2}"#
        claims.signInAttributes = #"{"groups":["a"]}"#
        claims.secondFactor = .init(kind: "totp", enrollment: "e1")
        #expect(
            try TokenParts(claims, key: TestKeys.es256()).payload
                == #"{"name":"Ada","picture":"https://example.com/a.png","role":"admin","level":2,"#
                + #""iss":"https://securetoken.google.com/demo-project","aud":"demo-project","#
                + #""auth_time":1790000050,"user_id":"abcdefghijklmnopqrstuvwxyz01","#
                + #""sub":"abcdefghijklmnopqrstuvwxyz01","iat":1790000100,"exp":1790003700,"#
                + #""email":"ada@example.com","email_verified":true,"phone_number":"+15555550100","#
                + #""firebase":{"identities":{"email":["ada@example.com"],"google.com":["g1"],"#
                + #""phone":["+15555550100"]},"sign_in_provider":"google.com","sign_in_second_factor":"totp","#
                + #""second_factor_identifier":"e1","sign_in_attributes":{"groups":["a"]},"#
                + #""tenant":"tenant-1","sid":"AAECAwQFBgcICQoLDA0ODw","jti":"AAECAwQFBgcICQoL"}}"#
        )
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func aLimitCostsThePictureThenTheAttributes(_ algorithm: SigningAlgorithm) throws {
        var claims = try TokenParts.claims()
        claims.picture = "https://example.com/a.png"
        claims.signInAttributes = #"{"groups":["a"]}"#
        let key = try TestKeys.key(algorithm)
        func length(_ change: (inout IDTokenClaims) -> Void) throws -> Int {
            var claims = claims
            change(&claims)
            let token = try IDTokenMinter.mint(claims, with: key)
            let payload = try #require(Base64URL.decode(token.split(separator: ".")[1]))
            #expect(key.length(ofPayload: payload.count) == token.utf8.count)
            return token.utf8.count
        }
        let whole = try length { _ in }
        let withoutPicture = try length { $0.picture = nil }
        let shortest = try length { ($0.picture, $0.signInAttributes) = (nil, nil) }
        for (limit, left) in [
            (whole, whole), (whole - 1, withoutPicture), (withoutPicture, withoutPicture),
            (withoutPicture - 1, shortest),
            (shortest, shortest),
        ] {
            #expect(try IDTokenMinter.mint(claims, within: limit, with: key).utf8.count == left)
        }
        #expect(throws: IDTokenMintingError.tooLong) { try IDTokenMinter.mint(claims, within: shortest - 1, with: key) }
    }

    @Test func emptyTextIsAbsent() throws {
        var claims = try TokenParts.claims()
        (claims.name, claims.picture, claims.email, claims.phoneNumber) = ("", "", "", "")
        claims.emailVerified = true
        let payload = try payload(claims)
        for name in ["name", "picture", "email", "email_verified", "phone_number", "provider_id"] {
            #expect(payload[name] == nil, "\(name)")
        }
    }

    @Test(arguments: [true, false]) func emailVerifiedNeverStandsAlone(_ verified: Bool) throws {
        var claims = try TokenParts.claims()
        claims.emailVerified = verified
        #expect(try payload(claims)["email_verified"] == nil)
        claims.email = "a@b.example"
        #expect(try payload(claims)["email_verified"] as? Bool == verified)
        #expect(try payload(claims)["email"] as? String == "a@b.example")
    }

    @Test(
        arguments: [
            (.anonymous, "anonymous", "anonymous"), (.google, "google.com", nil), (.password, "password", nil),
            (.emailLink, "password", nil), (.phone, "phone", nil), (.custom, "custom", nil),
            (ProviderID("oidc.acme"), "oidc.acme", nil),
        ] as [(ProviderID, String, String?)]
    )
    func signInProvider(_ provider: ProviderID, _ expected: String, _ providerID: String?) throws {
        let claims = try TokenParts.claims(provider: provider)
        #expect(try firebase(claims)["sign_in_provider"] as? String == expected)
        #expect(try payload(claims)["provider_id"] as? String == providerID)
    }

    @Test func absentPartsOfFirebaseAreAbsent() throws {
        let names = try firebase(TokenParts.claims()).allKeys.compactMap { $0 as? String }
        #expect(Set(names) == ["identities", "sign_in_provider", "sid", "jti"])
    }

    static let hostileTexts = [
        #"""#, #"\"#, #"\\""#, #"","admin":true,"x":""#, "\u{0}", "\u{1}\u{1f}\u{7f}", "\n\r\t\u{8}\u{c}",
        "\u{2028}\u{2029}",
        "🧑🏽‍🚀 é e\u{301}", "</script>", "a\u{feff}b", "\u{fffd}\u{10ffff}", "a/b", String(repeating: "\"\\", count: 3000),
    ]

    @Test func hostileTextStaysText() throws {
        for text in Self.hostileTexts {
            var claims = try TokenParts.claims()
            (claims.name, claims.picture, claims.email, claims.phoneNumber) = (text, text, text, text)
            claims.account = AccountID(text)
            claims.tenant = TenantID(rawValue: text)
            claims.identities = [text: [text, text], "email": []]
            claims.issuer = text
            claims.secondFactor = .init(kind: text, enrollment: text)
            let payload = try payload(claims)
            #expect(payload.count == 13)
            for name in ["name", "picture", "email", "phone_number", "sub", "user_id", "iss"] {
                let read = try #require(payload[name] as? String)
                #expect(Array(read.utf8) == Array(text.utf8))
            }
            let firebase = try firebase(claims)
            #expect(firebase.count == 7)
            #expect(firebase["identities"] as? NSDictionary == [text: [text, text], "email": [String]()])
            #expect(firebase["tenant"] as? String == text)
            #expect(firebase["second_factor_identifier"] as? String == text)
        }
    }

    @Test func hostileCustomClaimsStayClaims() throws {
        for text in Self.hostileTexts {
            let object = ["k": text, text: "v"]
            var claims = try TokenParts.claims()
            claims.accountClaims = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
            claims.signInAttributes = claims.accountClaims
            let payload = try payload(claims)
            #expect(payload.count == 10)
            #expect(payload["k"] as? String == text)
            #expect(payload[text] as? String == "v")
            #expect(try firebase(claims)["sign_in_attributes"] as? NSDictionary == object as NSDictionary)
        }
    }

    @Test func sessionClaimsWinOverAccountClaims() throws {
        var claims = try TokenParts.claims()
        claims.accountClaims = #" { "a" : 1 , "b" : { "x" : [ 1.50, 2e3 ] } , "name" : "claimed" } "#
        claims.sessionClaims = #"{"\u0061":2,"c":null}"#
        claims.name = "Ada"
        let payload = try payload(claims)
        #expect(payload["a"] as? Int == 2)
        #expect(payload["b"] as? NSDictionary == ["x": [1.5, 2000]])
        #expect(payload["c"] is NSNull)
        #expect(payload["name"] as? String == "claimed")
        let text = try TokenParts(claims, key: TestKeys.es256()).payload
        #expect(text.components(separatedBy: #""name":"#).count == 2)
        #expect(text.components(separatedBy: #""a":"#).count == 2)
    }

    @Test("T-D10: custom claims never speak over what we say, nor where we say nothing")
    func reservedNames() throws {
        let names =
            Array(CustomClaims.reservedNames) + ["email", "email_verified", "phone_number", "provider_id", "user_id"]
        #expect(names.count == 21)
        let forged = #"{"# + names.map { #""\#($0)":"forged""# }.joined(separator: ",") + #","\u0069ss":1,"ok":1}"#
        let plain = try payload(TokenParts.claims())
        for isSession in [true, false] {
            var claims = try TokenParts.claims()
            // Escapes make no other name: "\u0069ss" would be a second "iss", so it stands alone here.
            let text = forged.replacingOccurrences(of: #""iss":"forged","#, with: "")
            if isSession { claims.sessionClaims = text } else { claims.accountClaims = text }
            let payload = try #require(try payload(claims).mutableCopy() as? NSMutableDictionary)
            #expect(payload["ok"] as? Int == 1)
            payload.removeObject(forKey: "ok")
            #expect(payload == plain)
        }
    }

    @Test func refusesClaimsThatAreNoObject() throws {
        for text in JSONSamples.refused {
            var claims = try TokenParts.claims()
            claims.accountClaims = text
            #expect(throws: IDTokenMintingError.invalidAccountClaims, "\(text)") {
                try IDTokenMinter.mint(claims, with: TestKeys.es256())
            }
            claims.accountClaims = nil
            claims.sessionClaims = text
            #expect(throws: IDTokenMintingError.invalidSessionClaims, "\(text)") {
                try IDTokenMinter.mint(claims, with: TestKeys.es256())
            }
            claims.sessionClaims = nil
            claims.signInAttributes = text
            #expect(throws: IDTokenMintingError.invalidSignInAttributes, "\(text)") {
                try IDTokenMinter.mint(claims, with: TestKeys.es256())
            }
        }
    }
}
