import Crypto
package import struct Foundation.Data
package import struct Foundation.Date
import Secrets
import StrictJSON

/// The key with which an app proves itself at Apple: registered by its public half, held by the app's developer.
package struct AppleClientKey: Sendable, Hashable {
    package let team: String
    package let id: String
    /// PKCS#8, as Apple's console hands it out once.
    package let pem: String
    private let scalar: Data

    package init(team: String = "TEAM000001", id: String = "KEY0000001") {
        self.team = team
        self.id = id
        let key = P256.Signing.PrivateKey()
        pem = key.pemRepresentation
        scalar = key.rawRepresentation
    }

    /// A client secret as a correct client makes it.
    package func secret(for client: String, audience: String, now: Date, lifetime: Int64 = 300) throws -> String {
        let issuedAt = Int64(now.timeIntervalSince1970)
        let header: JSONValue = ["alg": "ES256", "kid": .string(id)]
        let claims: JSONValue = [
            "iss": .string(team), "sub": .string(client), "aud": .string(audience), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + lifetime),
        ]
        let input = [header, claims].map { Base64URL.encode($0.jsonText.utf8) }.joined(separator: ".")
        let key = try P256.Signing.PrivateKey(rawRepresentation: scalar)
        let signature = try key.signature(for: SHA256.hash(data: Array(input.utf8)))
        return input + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// What is wrong with a client secret; nil when it is right.
    func problem(with secret: String, client: String, audience: String, now: Date) -> String? {
        guard let token = CompactJWS(secret), let header = token.header.flatMap(Self.object),
            let claims = Self.object(token.payload)
        else { return "the secret is no JWT" }
        guard header["alg"] == .string("ES256"), header["kid"] == .string(id) else { return "alg or kid" }
        guard claims["iss"] == .string(team) else { return "iss is not the team" }
        guard claims["sub"] == .string(client) else { return "sub is not the client" }
        guard claims["aud"] == .string(audience) else { return "aud is not Apple" }
        let seconds = Int64(now.timeIntervalSince1970)
        guard let expires = claims["exp"]?.integer, expires > seconds, expires - seconds <= 15_777_000,
            // Tests move the service's clock ahead of this one.
            let issued = claims["iat"]?.integer, issued < expires
        else { return "iat or exp" }
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar),
            let read = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.publicKey.isValidSignature(read, for: SHA256.hash(data: token.signedBytes))
        else { return "the signature" }
        return nil
    }

    private static func object(_ bytes: [UInt8]) -> JSONObject? { (try? JSONValue(parsing: bytes))?.object }
}
