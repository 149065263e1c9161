import Domain
import Foundation
import JWTKit
import Projects
import Secrets
import Sessions
import StrictJSON
import Testing
import TestKit

/// jwt-kit as the judge of ID tokens with claims of every kind.
@Suite("ID tokens against jwt-kit")
struct IDTokenFuzzTests {
    private struct Payload: JWTPayload {
        struct Firebase: Codable {
            let identities: [String: [String]]
            let sign_in_provider: String
            let sign_in_second_factor: String?
            let second_factor_identifier: String?
            let tenant: String?
            let sid: String
        }

        let iss: String
        let aud: String
        let sub: String
        let user_id: String
        let auth_time: Int64
        let iat: Int64
        let exp: Int64
        let name: String?
        let picture: String?
        let email: String?
        let email_verified: Bool?
        let phone_number: String?
        let firebase: Firebase
        let custom: String?
        let own: [Int]?

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private static func claims(_ random: inout SplitMix) throws -> IDTokenClaims {
        var claims = try TokenParts.claims()
        func maybe(_ text: @autoclosure () -> String) -> String? { Bool.random(using: &random) ? text() : nil }
        claims.account = AccountID("u" + random.text(upTo: 40))
        claims.authTime = Int64.random(in: 0...TokenParts.now, using: &random)
        claims.issuedAt = TokenParts.now
        claims.name = Bool.random(using: &random) ? random.text(upTo: 60) : nil
        claims.picture = Bool.random(using: &random) ? "https://e.example/" + random.text(upTo: 40) : nil
        claims.email = Bool.random(using: &random) ? random.text(upTo: 30) + "@e.example" : nil
        claims.emailVerified = .random(using: &random)
        claims.phoneNumber =
            Bool.random(using: &random) ? "+8190\(Int.random(in: 0...99_999_999, using: &random))" : nil
        claims.signInProvider = ProviderID("oidc." + random.text(upTo: 10))
        claims.tenant = Bool.random(using: &random) ? TenantID(rawValue: "t" + random.text(upTo: 10)) : .none
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            claims.identities["p" + random.text(upTo: 8)] = [random.text(upTo: 30), random.text(upTo: 5)]
        }
        if Bool.random(using: &random) {
            claims.secondFactor = .init(kind: "totp", enrollment: random.text(upTo: 20))
        }
        if Bool.random(using: &random) {
            let custom = JSONObject([
                .init(name: "custom", value: .string(random.text(upTo: 30))),
                .init(name: "own", value: .array([.number("1"), .number("-2")])),
            ])
            claims.accountClaims = JSONValue.object(custom).jsonText
        }
        return claims
    }

    @Test("contain exactly the claimed values", arguments: SigningAlgorithm.allCases)
    func agrees(_ algorithm: SigningAlgorithm) async throws {
        let keys = try TestKeys.all()
        let judge = JWTKeyCollection()
        for jwk in try JSONDecoder().decode(JWKS.self, from: Data(keys.jwksJSON().utf8)).keys {
            try await judge.add(jwk: jwk, isDefault: false)
        }
        let verifier = IDTokenVerifier()
        var random = SplitMix(seed: 7)
        for _ in 0..<200 {
            let claims = try Self.claims(&random)
            let token = try IDTokenMinter.mint(claims, with: try TestKeys.key(algorithm))
            let payload = try await judge.verify(token, as: Payload.self)
            #expect(payload.iss == claims.issuer && payload.aud == claims.project.rawValue)
            #expect(payload.sub == claims.account.rawValue && payload.user_id == payload.sub)
            #expect(payload.auth_time == claims.authTime && payload.iat == claims.issuedAt)
            #expect(payload.exp == payload.iat + 3600)
            #expect(payload.name == claims.name.flatMap { $0.isEmpty ? nil : $0 })
            #expect(payload.picture == claims.picture)
            #expect(payload.email == claims.email)
            #expect(payload.email_verified == claims.email.map { _ in claims.emailVerified })
            #expect(payload.phone_number == claims.phoneNumber)
            #expect(payload.firebase.identities == claims.identities)
            #expect(payload.firebase.sign_in_provider == claims.signInProvider.rawValue)
            #expect(payload.firebase.tenant == (claims.tenant == .none ? nil : claims.tenant.rawValue))
            #expect(payload.firebase.sid == claims.session.rawValue)
            #expect(payload.firebase.second_factor_identifier == claims.secondFactor?.enrollment)
            #expect((payload.own == nil) == (claims.accountClaims == nil))
            let verified = try verifier.verify(
                token,
                project: claims.project,
                issuers: [claims.issuer],
                keys: keys,
                now: TokenParts.now
            )
            #expect(verified.account == claims.account && verified.tenant == claims.tenant)
            #expect(verified.authTime == claims.authTime && verified.secondFactor == claims.secondFactor)
            // One bit changed anywhere, and neither takes it.
            var bytes = Array(token.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] ^= 1
            let forged = String(decoding: bytes, as: UTF8.self)
            await #expect(throws: (any Error).self) { try await judge.verify(forged, as: Payload.self) }
            #expect(throws: IDTokenError.self) {
                try verifier.verify(
                    forged,
                    project: claims.project,
                    issuers: [claims.issuer],
                    keys: keys,
                    now: TokenParts.now
                )
            }
        }
    }
}
