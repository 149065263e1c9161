import Crypto
import Foundation
import Secrets
import StrictJSON

extension TenantState {
    mutating func mintAccessToken(user: TestUser, client: String, scopes: [String]) -> String {
        let token = random.handle()
        accessTokens[token] = TokenGrant(
            client: client,
            user: user,
            scopes: scopes,
            expiresAt: personality.accessTokenLifetime.map { now().addingTimeInterval(TimeInterval($0)) }
        )
        return token
    }

    /// An ID token (OIDC Core §2), with the changes that a test asks for.
    mutating func mintIDToken(
        user: TestUser,
        client: String,
        scopes: Set<String>,
        nonce: String?,
        accessToken: String?,
        code: String? = nil,
        authenticatedAt: Date?,
        changes: IDTokenChanges
    ) throws -> String {
        let issuedAt = Int64(now().timeIntervalSince1970)
        var claims: JSONObject = [
            "iss": .string(personality.tokenIssuer(user, issuer)), "azp": .string(client), "aud": .string(client),
            "sub": .string(user.subject),
            "iat": .integer(issuedAt), "exp": .integer(issuedAt + 3600),
        ]
        if personality.listsAudience {
            claims.change(set: ["aud": [.string(client)]], remove: ["azp"])
        }
        claims["nonce"] = nonce.map { .string($0) }
        claims["auth_time"] = authenticatedAt.map { .integer(Int64($0.timeIntervalSince1970)) }
        func half(_ text: String) -> JSONValue { .string(Base64URL.encode(SecureHash.sha256(text).prefix(16))) }
        claims["at_hash"] = accessToken.map(half)
        claims["c_hash"] = code.map(half)
        claims.change(set: personality.claims(user, scopes))
        claims.change(set: changes.set, remove: changes.remove)

        let key = try changes.key ?? keys.signer()
        var header: JSONObject = [
            "alg": .string(key.kind.rawValue), "kid": .string(key.kid), "typ": "JWT",
        ]
        header.change(set: changes.header, remove: changes.removeHeader)

        let input = [changes.rawHeader ?? header.jsonText, changes.payload ?? claims.jsonText]
            .map { Base64URL.encode($0.utf8) }.joined(separator: ".")
        let bytes = Array(input.utf8)
        let signature: [UInt8] =
            switch changes.signature {
            case .valid: try key.sign(bytes)
            case .empty: []
            case .hmac(let secret):
                [UInt8](HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret)))
            case .bytes(let bytes): bytes
            case .der: try key.signDER(bytes)
            }
        let token = input + "." + Base64URL.encode(signature)
        return changes.rewrite?(token) ?? token
    }
}
