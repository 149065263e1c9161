import Crypto
import CryptoExtras
import Foundation
import IdentityCore
import IdentityServer
import IdentityTestKit

// What a verification costs, beside that of the signature alone (decoding it, hashing, verifying):
//
//     swift run -c release verifier-benchmark

@concurrent
func microseconds(_ rounds: Int, _ body: @Sendable () async throws -> Void) async rethrows -> Double {
    // The best of many short ones: others use the machine too.
    var best = Double.infinity
    for _ in 0..<200 {
        let start = ContinuousClock.now
        for _ in 0..<rounds { try await body() }
        best = min(best, start.duration(to: .now) / .microseconds(1) / Double(rounds))
    }
    return best
}

let now = Int(Date().timeIntervalSince1970)
let claims = """
    {"iss":"https://securetoken.google.com/my-project","aud":"my-project","auth_time":\(now),\
    "user_id":"6MYGpLkqzzO3bxuvwOFMqFVBLAtA","sub":"6MYGpLkqzzO3bxuvwOFMqFVBLAtA","iat":\(now),"exp":\(now + 3600),\
    "email":"ada@example.com","email_verified":true,"role":"admin",\
    "firebase":{"identities":{"email":["ada@example.com"]},"sign_in_provider":"password","sid":"pVktgnzO0qBM8Ud3bl1TkQ"}}
    """
let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
let ec = P256.Signing.PrivateKey()
let primitives = try rsa.publicKey.getKeyPrimitives()
let point = ec.publicKey.rawRepresentation
let keys = """
    {"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"23fb29e68a1e096f48462ea4b8cb758922a5e940",\
    "n":"\(Base64URL.encode(primitives.modulus))","e":"\(Base64URL.encode(primitives.publicExponent))"},\
    {"kty":"EC","use":"sig","alg":"ES256","kid":"f198fc540bd3ae70c712defad6496ff6e188545a","crv":"P-256",\
    "x":"\(Base64URL.encode(point.prefix(32)))","y":"\(Base64URL.encode(point.suffix(32)))"}]}
    """
let server = try TestServer { _ in TestServer.response(200, keys) }

func input(_ algorithm: String, _ key: String) -> String {
    [#"{"alg":"\#(algorithm)","kid":"\#(key)","typ":"JWT"}"#, claims].map { Base64URL.encode($0.utf8) }
        .joined(separator: ".")
}

let rsInput = input("RS256", "23fb29e68a1e096f48462ea4b8cb758922a5e940")
let rsSignature = try rsa.signature(for: SHA256.hash(data: Data(rsInput.utf8)), padding: .insecurePKCS1v1_5)
let esInput = input("ES256", "f198fc540bd3ae70c712defad6496ff6e188545a")
let esSignature = try ec.signature(for: SHA256.hash(data: Data(esInput.utf8)))
let known = TokenVerifier(url: server.url, projectID: "my-project")
let unknown = TokenVerifier(url: server.url, projectID: "my-project", cacheSize: 0)

for (name, token) in [
    ("RS256", "\(rsInput).\(Base64URL.encode(rsSignature.rawRepresentation))"),
    ("ES256", "\(esInput).\(Base64URL.encode(esSignature.rawRepresentation))"),
] {
    let rsBytes = Array(rsInput.utf8)
    let esBytes = Array(esInput.utf8)
    let publicKey = try _RSA.Signing.PublicKey(n: primitives.modulus, e: primitives.publicExponent)
    let rsText = Array(Base64URL.encode(rsSignature.rawRepresentation).utf8)
    let esText = Array(Base64URL.encode(esSignature.rawRepresentation).utf8)
    let point = ec.publicKey
    let bare = try await microseconds(100) {
        let isValid =
            name == "RS256"
            ? publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: Base64URL.decode(rsText[...]) ?? []),
                for: SHA256.hash(data: rsBytes),
                padding: .insecurePKCS1v1_5
            )
            : point.isValidSignature(
                try P256.Signing.ECDSASignature(rawRepresentation: Base64URL.decode(esText[...]) ?? []),
                for: SHA256.hash(data: esBytes)
            )
        precondition(isValid)
    }
    let new = try await microseconds(100) { _ = try await unknown.verify(idToken: token) }
    let old = try await microseconds(1000) { _ = try await known.verify(idToken: token) }
    print(
        name,
        "signature alone \(String(format: "%.1f", bare)) µs,",
        "unknown token \(String(format: "%.1f", new)) µs (\(String(format: "%.2f", new / bare)) times),",
        "known token \(String(format: "%.2f", old)) µs"
    )
}
