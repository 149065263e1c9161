import Crypto
import Foundation
import Secrets

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
        var claims: TestJSON = [
            "iss": .string(personality.tokenIssuer(user, issuer)), "azp": .string(client), "aud": .string(client),
            "sub": .string(user.subject),
            "iat": .integer(issuedAt), "exp": .integer(issuedAt + 3600),
        ]
        if personality.listsAudience {
            claims.set("aud", [.string(client)])
            claims.remove("azp")
        }
        claims.set("nonce", ifPresent: nonce)
        if let authenticatedAt { claims.set("auth_time", .integer(Int64(authenticatedAt.timeIntervalSince1970))) }
        if let accessToken {
            claims.set("at_hash", .string(Base64URL.encode(SecureHash.sha256(accessToken).prefix(16))))
        }
        if let code { claims.set("c_hash", .string(Base64URL.encode(SecureHash.sha256(code).prefix(16)))) }
        for claim in personality.claims(user, scopes) { claims.set(claim.name, claim.value) }
        claims.change(set: changes.set, remove: changes.remove)

        let key = try changes.key ?? keys.signer()
        var header: TestJSON = [
            "alg": .string(key.kind.rawValue), "kid": .string(key.kid), "typ": "JWT",
        ]
        header.change(set: changes.header, remove: changes.removeHeader)

        let input = [changes.rawHeader ?? header.text, changes.payload ?? claims.text]
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
