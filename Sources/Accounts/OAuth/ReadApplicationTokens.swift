import Domain
package import OAuth
import Projects
package import Secrets
import Sessions
import Storage
package import StrictJSON

extension AccountsService {
    package var readApplicationTokens: ReadApplicationTokens { ReadApplicationTokens(service: self) }
}

/// What applications and resource servers ask about tokens: userinfo, introspection and revocation.
///
/// Each reads the session, so a token ends with it, whatever it says itself.
package struct ReadApplicationTokens: Sendable {
    let service: AccountsService

    /// The user's claims (OpenID Connect Core 1.0 §5.3).
    ///
    /// - Parameter keyThumbprint: of the key that the caller has proved to have; nil for a bearer token.
    /// - Throws: ``OAuthError``.
    package func userInfo(accessToken: Secret, key keyThumbprint: String?, _ caller: Caller) async throws -> JSONObject
    {
        guard let token = try await service.accessToken(accessToken, caller),
            token.keyThumbprint == keyThumbprint, token.audiences == [token.issuer],
            let account = try await service.account(of: token, caller)
        else { throw OAuthError(.invalidToken, "The access token is expired, revoked, or for somebody else") }
        guard token.scopes.contains(Scopes.openID) else {
            throw OAuthError(.insufficientScope, "The access token lacks the scope openid")
        }
        let claims = UserClaims.members(of: account, for: token.scopes)
        return JSONObject([.init(name: "sub", value: .string(account.id.rawValue))] + claims)
    }

    /// What a token is good for now (RFC 7662 §2.2), for a confidential client: a resource server that an admin registered
    /// asks about any access token, a client about its own tokens.
    ///
    /// - Throws: ``OAuthError``.
    package func introspect(_ text: Secret, for client: OAuthClient, _ caller: Caller) async throws -> JSONObject {
        guard !client.isPublic else {
            throw OAuthError(.unauthorizedClient, "Only confidential clients may introspect tokens")
        }
        if let token = try await service.accessToken(text, caller) {
            guard !client.isStrangers || token.client == client.id,
                let account = try await service.account(of: token, caller)
            else { return ["active": false] }
            let key: JSONObject = token.keyThumbprint.map { ["cnf": ["jkt": .string($0)]] } ?? [:]
            let known: JSONObject = [
                "active": true, "token_type": key.members.isEmpty ? "Bearer" : "DPoP", "iss": .string(token.issuer),
                "sub": .string(account.id.rawValue), "aud": .array(token.audiences.map { .string($0) }),
                "client_id": .string(token.client), "iat": .integer(token.issuedAt), "exp": .integer(token.expiresAt),
                "jti": .string(token.id),
            ]
            return JSONObject(known.members + key.members + scope(token.scopes).members)
        }
        guard let token = RefreshToken(text.reveal()), let key = key(of: token, caller),
            let found = try await service.sessions.application(key, secretHash: token.secretHash),
            found.session.isAlive(of: found.account), found.session.client == client.id
        else { return ["active": false] }
        let known: JSONObject = [
            "active": true, "iss": .string(try service.applicationIssuer(of: caller.project)),
            "sub": .string(found.account.id.rawValue), "client_id": .string(client.id),
        ]
        return JSONObject(known.members + scope(found.grant.scopes).members)
    }

    /// A list of scopes has at least one (RFC 6749 §3.3).
    private func scope(_ scopes: [String]) -> JSONObject {
        scopes.isEmpty ? [:] : ["scope": .string(scopes.joined(separator: " "))]
    }

    /// Ends the session of a client's own token (RFC 7009 §2); any other token is ignored.
    package func revoke(_ text: Secret, by client: OAuthClient, _ caller: Caller) async throws {
        if let token = try await service.accessToken(text, caller) {
            guard token.client == client.id, let session = SessionID(rawValue: token.session) else { return }
            let key = SessionKey(scope: caller.scope, account: token.account, session: session)
            _ = try await end(key, secretHash: nil, client, caller)
        } else if let token = RefreshToken(text.reveal()), let key = key(of: token, caller) {
            guard try await !end(key, secretHash: token.secretHash, client, caller) else { return }
            // Replaced several times since: whoever has its successors, a thief perhaps, must not go on with them.
            guard try await service.earlier(token, of: key, caller) != nil else { return }
            _ = try await end(key, secretHash: nil, client, caller)
        }
    }

    private func end(
        _ key: SessionKey,
        secretHash: [UInt8]?,
        _ client: OAuthClient,
        _ caller: Caller
    ) async throws -> Bool {
        try await service.sessions.endApplication(
            key,
            of: client.id,
            secretHash: secretHash,
            isTold: caller.project.settings.delivery.takes(.grantEnded),
            now: service.now()
        )
    }

    private func key(of token: RefreshToken, _ caller: Caller) -> SessionKey? {
        guard token.projectNumber == caller.project.number, token.tenant == caller.tenant else { return nil }
        return SessionKey(scope: caller.scope, account: token.account, session: token.session)
    }
}
