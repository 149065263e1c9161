import Crypto
import CryptoExtras
import Secrets
import StrictJSON
import SystemCrypto

/// A short-lived JWT with which our client authenticates at a provider.
enum ClientAssertion {
    /// The lifetime in seconds; each request creates its own.
    private static let lifetime: Int64 = 300

    /// Apple's `client_secret`: issued by the team, about the client, for Apple ("Generate and validate tokens").
    static func appleSecret(
        clientID: String,
        key: ClientKey,
        variables: [String: String],
        audience: String,
        now: Int64
    ) throws(InvalidDefinition) -> String {
        try sign(
            [
                .init(name: "iss", value: .string(variables["teamId"] ?? "")),
                .init(name: "sub", value: .string(clientID)),
                .init(name: "aud", value: .string(audience)), .init(name: "iat", value: .number(String(now))),
                .init(name: "exp", value: .number(String(now + lifetime))),
            ],
            key: key,
            keyID: variables["keyId"]
        )
    }

    /// `private_key_jwt` (OIDC Core §9, RFC 7523 §3).
    static func clientAssertion(
        clientID: String,
        key: ClientKey,
        keyID: String?,
        audience: String,
        id: String,
        now: Int64
    ) throws(InvalidDefinition) -> String {
        try sign(
            [
                .init(name: "iss", value: .string(clientID)), .init(name: "sub", value: .string(clientID)),
                .init(name: "aud", value: .string(audience)),
                .init(name: "jti", value: .string(id)), .init(name: "iat", value: .number(String(now))),
                .init(name: "exp", value: .number(String(now + lifetime))),
            ],
            key: key,
            keyID: keyID
        )
    }

    private static func sign(
        _ claims: [JSONObject.Member],
        key: ClientKey,
        keyID: String?
    ) throws(InvalidDefinition) -> String {
        var header = JSONObject()
        header["alg"] = .string(key.algorithm)
        if let keyID, !keyID.isEmpty { header["kid"] = .string(keyID) }
        header["typ"] = .string("JWT")
        let input = [header, JSONObject(claims)]
            .map { Base64URL.encode(JSONValue.object($0).jsonText.utf8) }.joined(separator: ".")
        return input + "." + Base64URL.encode(try key.signature(for: Array(input.utf8)))
    }
}

/// The private key with which a client signs its assertions.
enum ClientKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    /// - Throws: ``InvalidDefinition`` for text that is not a private key in PEM; it never contains the text.
    init(_ pem: Secret?) throws(InvalidDefinition) {
        switch PrivateKey(pem: pem?.reveal() ?? "") {
        case .p256(let key): self = .p256(key)
        case .rsa(let key): self = .rsa(key)
        case nil:
            throw InvalidDefinition(
                member: "clientSecret",
                problem: "must be a private key in PEM: P-256, or RSA of 2048 to 8192 bits"
            )
        }
    }

    var algorithm: String {
        switch self {
        case .p256: "ES256"
        case .rsa: "RS256"
        }
    }

    func signature(for bytes: [UInt8]) throws(InvalidDefinition) -> [UInt8] {
        do {
            switch self {
            case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
            case .rsa(let key):
                return Array(
                    try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation
                )
            }
        } catch {
            throw InvalidDefinition(member: "clientSecret", problem: "cannot sign")
        }
    }
}
