import Foundation
package import Projects
import Secrets
import Sessions
package import Storage
import SystemCrypto

/// A service account whose private key the tests have, as a back end's Admin SDK would.
package struct TestServiceAccount: Sendable {
    package let key: ServiceAccountKey
    private let privateKey: RSAPrivateKey

    /// Makes an account's key and registers it.
    package static func register(
        in project: ProjectID,
        name: String = "admin-sdk",
        scopes: Set<AdminScope> = [.mintCustomTokens],
        expiresAt: Int64? = nil,
        _ configuration: ConfigurationStore
    ) async throws -> TestServiceAccount {
        let pair = try ServiceAccountKeyPair.generate()
        let lines = pair.privateKeyPEM.reveal().split(separator: "\n").dropFirst().dropLast()
        let der = Data(base64Encoded: lines.joined()) ?? Data()
        let key = ServiceAccountKey(
            id: pair.id,
            name: name,
            project: project,
            scopes: scopes,
            publicKey: pair.publicKey,
            expiresAt: expiresAt
        )
        try await configuration.create(key)
        return TestServiceAccount(key: key, privateKey: try RSAPrivateKey(pkcs8DER: Array(der)))
    }

    /// The payload that Admin SDKs sign.
    package func payload(uid: String, claims: JSON? = nil, at now: Int64) -> [String: JSON] {
        var payload: [String: JSON] = [
            "iss": .string(key.email), "sub": .string(key.email), "aud": .string(CustomToken.audience),
            "uid": .string(uid), "iat": .number(Double(now)), "exp": .number(Double(now + 3600)),
        ]
        if let claims { payload["claims"] = claims }
        return payload
    }

    /// Signs a payload, whatever it says; Node's SDK leaves `kid` out.
    package func sign(
        _ payload: [String: JSON],
        header: [String: JSON] = ["alg": "RS256", "typ": "JWT"]
    ) throws -> String {
        let message = [header, payload].map { Base64URL.encode(Array(JSON.object($0).text.utf8)) }.joined(
            separator: "."
        )
        return message + "." + Base64URL.encode(try privateKey.sign(Array(message.utf8)))
    }
}
