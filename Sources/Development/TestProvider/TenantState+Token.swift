import Foundation
import Secrets
import StrictJSON
import Text

extension TenantState {
    /// The token endpoint (RFC 6749 §4.1.3 and §6).
    mutating func token(_ request: RecordedRequest) throws -> ProviderAnswer {
        let isPost = request.method == "POST"
        guard isPost || personality.allowsTokenByGET && request.method == "GET" else {
            violate(.method, .token, request.method)
            return ProviderAnswer(405, .text("POST only"))
        }
        let type = request.header("content-type")?.lowercased() ?? ""
        guard !isPost || type.split(separator: ";").first == "application/x-www-form-urlencoded" else {
            violate(.contentType, .token, type)
            return failure(.invalidRequest, request)
        }
        let fields = request.fields
        guard request.encodingFault == nil, fields.repeatedNames.isEmpty,
            request.query.isEmpty || !isPost
        else {
            violate(.encoding, .token, "plus signs, broken escapes, repeated parameters, or a query")
            return failure(.invalidRequest, request)
        }
        for (name, value) in personality.requiredTokenFields where fields[name] != value {
            violate(.missingParameter, .token, name)
            return failure(.invalidRequest, request)
        }
        guard let client = authenticate(request, fields) else { return failure(.invalidClient, request) }
        switch fields["grant_type"] {
        case "authorization_code": return try exchange(fields, client, request)
        // GitHub's documentation has no grant_type at the exchange.
        case nil where !personality.isOpenID && fields["code"] != nil: return try exchange(fields, client, request)
        case "refresh_token": return try refresh(fields, client, request)
        case "fb_exchange_token" where personality.lengthensTokens: return lengthen(fields, client, request)
        default:
            violate(.grantType, .token, fields["grant_type"] ?? "none")
            return failure(.unsupportedGrantType, request)
        }
    }

    private mutating func exchange(
        _ fields: FormFields,
        _ client: TestClient,
        _ request: RecordedRequest
    ) throws -> ProviderAnswer {
        guard let code = fields["code"], var grant = codes[code] else {
            violate(.unknownCode, .token, "the code was never issued")
            return failure(.invalidGrant, request)
        }
        guard grant.client == client.id else {
            violate(.codeBinding, .token, "the code belongs to another client")
            return failure(.invalidGrant, request)
        }
        guard isSameTenant(request.path, grant.path) else {
            violate(.codeBinding, .token, "the code belongs to another tenant's path")
            return failure(.invalidGrant, request)
        }
        guard !grant.isUsed else {
            violate(.codeReuse, .token, "the code was used before")
            for token in grant.tokens {
                accessTokens[token] = nil
                refreshTokens[token] = nil
            }
            return failure(.invalidGrant, request)
        }
        guard now() < grant.expiresAt else {
            violate(.expiredCode, .token, "the code is too old")
            return failure(.invalidGrant, request)
        }
        guard fields["redirect_uri"] == grant.redirectURI else {
            violate(.redirectURI, .token, fields["redirect_uri"] ?? "none")
            return failure(.redirectMismatch, request)
        }
        guard proves(fields["code_verifier"], grant.challenge) else {
            violate(.pkce, .token, fields["code_verifier"] == nil ? "no code_verifier" : "the wrong code_verifier")
            return failure(.invalidGrant, request)
        }
        grant.isUsed = true
        let (answer, tokens) = try issue(grant, request)
        grant.tokens = tokens
        codes[code] = grant
        return answer
    }

    /// Whether both paths have the same first segment, where that is Microsoft's tenant.
    private func isSameTenant(_ path: String, _ other: String?) -> Bool {
        guard let other, personality.paths[.token]?.hasPrefix("*/") == true else { return true }
        func tenant(_ path: String) -> Substring? { path.split(separator: "/").dropFirst(2).first }
        return tenant(path) == tenant(other)
    }

    /// RFC 7636 §4.6; a verifier without a challenge is a mistake too.
    private func proves(_ verifier: String?, _ challenge: String?) -> Bool {
        guard let verifier, let challenge else { return verifier == nil && challenge == nil }
        return (43...128).contains(verifier.utf8.count) && Base64URL.encode(SecureHash.sha256(verifier)) == challenge
    }

    private mutating func issue(
        _ grant: CodeGrant,
        _ request: RecordedRequest
    ) throws -> (answer: ProviderAnswer, tokens: [String]) {
        let access = mintAccessToken(user: grant.user, client: grant.client, scopes: grant.scopes)
        var answer = tokenAnswer(access: access, user: grant.user, scopes: grant.scopes)
        var tokens = [access]
        if grant.issuesRefreshToken {
            let refresh = random.handle()
            refreshTokens[refresh] = TokenGrant(client: grant.client, user: grant.user, scopes: grant.scopes)
            answer["refresh_token"] = .string(refresh)
            tokens.append(refresh)
        }
        if personality.isOpenID {
            let idToken = try mintIDToken(
                user: grant.user,
                client: grant.client,
                scopes: Set(grant.scopes),
                nonce: grant.nonce,
                accessToken: access,
                authenticatedAt: grant.sendsAuthenticationTime ? grant.authenticatedAt : nil,
                changes: grant.idToken
            )
            answer["id_token"] = .string(idToken)
        }
        return (reply(answer, request), tokens)
    }

    private mutating func refresh(
        _ fields: FormFields,
        _ client: TestClient,
        _ request: RecordedRequest
    ) throws -> ProviderAnswer {
        guard let token = fields["refresh_token"], let grant = refreshTokens[token], grant.client == client.id else {
            if let spent = fields["refresh_token"].flatMap({ spentRefreshTokens[$0] }) {
                violate(.refreshTokenReuse, .token, "the refresh token was used before")
                revokeGrant(subject: spent.user.subject, client: spent.client)
            }
            return failure(.invalidGrant, named: personality.refreshTokenError, request)
        }
        guard !personality.refreshNeedsScope || fields["scope"] != nil else {
            violate(.scope, .token, "no scope")
            return failure(.invalidRequest, request)
        }
        let access = mintAccessToken(user: grant.user, client: client.id, scopes: grant.scopes)
        var answer = tokenAnswer(access: access, user: grant.user, scopes: grant.scopes)
        if personality.rotatesRefreshTokens {
            let next = random.handle()
            spentRefreshTokens[token] = refreshTokens.removeValue(forKey: token)
            refreshTokens[next] = grant
            answer["refresh_token"] = .string(next)
        }
        if personality.isOpenID, personality.refreshesIDToken {
            let idToken = try mintIDToken(
                user: grant.user,
                client: client.id,
                scopes: Set(grant.scopes),
                nonce: nil,
                accessToken: access,
                authenticatedAt: nil,
                changes: .none
            )
            answer["id_token"] = .string(idToken)
        }
        return reply(answer, request)
    }
}
