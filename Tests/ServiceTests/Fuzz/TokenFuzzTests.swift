import Domain
import Federation
import Foundation
import Projects
import Secrets
import Sessions
import StrictJSON
import SystemCrypto
import Testing
import TestKit

@Suite("Fuzzed: tokens")
struct TokenFuzzTests {
    /// Parts of JWTs, in base64url and ready to be put together.
    private let words =
        [
            #"{"alg":"none"}"#, #"{"alg":"RS256","kid":"a","typ":"JWT"}"#, #"{"alg":"HS256","typ":"JWT"}"#,
            #"{"alg":"RS256","crit":["b64"],"b64":false}"#, #"{"sub":"a","iss":"b","aud":"c"}"#,
            #"{"sub":"a","sub":"b"}"#, "[]", "null", "\u{0}",
        ].map { Base64URL.encode(Array($0.utf8)) } + [".", "..", "=", "==", "+", "/", "-", "_", "A", "eyJ"]

    @Test("a provider's token that is taken apart goes together to the same bytes")
    func providerTokens() async throws {
        try await Fuzzer(name: "jwt", words: words).run { input in
            guard let text = String(validating: input, as: UTF8.self) else { return false }
            guard let token = try? CompactJWT(text) else { return false }
            let again = token.signedBytes + Array(".".utf8) + Array(Base64URL.encode(token.signature).utf8)
            try hold(again == input, "goes together to \(String(decoding: again, as: UTF8.self))")
            try hold((try? CompactJWT(text, isSecurityEvent: true)) != nil, "is no security event for another reason")
            return true
        }
    }

    @Test("no ID token is taken but the one that was made, to the byte")
    func ownTokens() async throws {
        let key = try SigningKey.generate(.es256, notBefore: 0, notAfter: 2_000_000_000)
        let keys = SigningKeys([key])
        let project = try #require(ProjectID(rawValue: "demo-project"))
        let claims = IDTokenClaims(
            issuer: "https://securetoken.google.com/demo-project",
            project: project,
            account: AccountID("ada"),
            session: try #require(SessionID(rawValue: "AAECAwQFBgcICQoLDA0ODw")),
            id: "AAECAwQFBgcICQoL",
            authTime: 1_800_000_000,
            issuedAt: 1_800_000_000,
            signInProvider: .google
        )
        let minted = try IDTokenMinter.mint(claims, with: key)
        let verifier = IDTokenVerifier()
        let parts = minted.split(separator: ".").map { String($0) }
        try await Fuzzer(name: "id-token", words: words + parts + [minted], rounds: 2000).run { input in
            // Of every second one the first part is ours.
            let text = String(decoding: input, as: UTF8.self)
            let candidates = [text, parts[0] + "." + text, parts[0] + "." + parts[1] + "." + text, minted + text]
            for candidate in candidates {
                let verified = try? verifier.verify(
                    candidate,
                    project: project,
                    issuers: [claims.issuer],
                    keys: keys,
                    now: 1_800_000_100
                )
                try hold(verified == nil || Array(candidate.utf8) == Array(minted.utf8), "\(candidate) is taken")
            }
            return candidates.contains(minted) || (try? CompactJWT(text)) != nil
        }
    }

    @Test("no custom token counts as signed that its back end did not sign, and reading it breaks nothing")
    func customTokens() async throws {
        let pair = try ServiceAccountKeyPair.generate()
        let lines = pair.privateKeyPEM.reveal().split(separator: "\n").dropFirst().dropLast()
        let der = try #require(Data(base64Encoded: lines.joined()))
        let message = [#"{"alg":"RS256","typ":"JWT"}"#, #"{"iss":"a@b","sub":"a@b","uid":"ada"}"#]
            .map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let signature = try RSAPrivateKey(pkcs8DER: [UInt8](der)).sign(Array(message.utf8))
        let minted = message + "." + Base64URL.encode(signature)
        let publicKey = try RSAPublicKey(subjectPublicKeyInfo: pair.publicKey)
        try #require(ServiceAccountAssertion(minted).isSigned(by: publicKey))
        let words = self.words + minted.split(separator: ".").map { String($0) }
        try await Fuzzer(name: "custom-token", words: words).run { input in
            let text = String(decoding: input, as: UTF8.self)
            for candidate in [text, minted + text] {
                guard let token = try? ServiceAccountAssertion(candidate) else { continue }
                try hold(candidate == minted || !token.isSigned(by: publicKey), "\(candidate) is taken")
                _ = try? token.checked(for: [CustomToken.audience], now: 1_800_000_000)
            }
            return (try? ServiceAccountAssertion(text)) != nil
        }
    }

    @Test("a refresh token has one spelling")
    func refreshTokens() async throws {
        let key = try KeyRing.Key(id: "key", bytes: [UInt8](repeating: 1, count: 32))
        try await Fuzzer(name: "refresh-token", words: words).run { input in
            guard let text = String(validating: input, as: UTF8.self), let token = RefreshToken(text) else {
                return false
            }
            try hold(Array(token.text.utf8) == input, "is written \(token.text)")
            try hold(try !token.isGenuine(under: KeyRing(keys: [key])), "a proof was guessed")
            return true
        }
    }
}
