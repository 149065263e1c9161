import Foundation
import StrictJSON
import Text

extension TenantState {
    /// Returns the client that an access token was issued to, in each provider's format.
    mutating func checkToken(_ request: RecordedRequest) -> ProviderAnswer {
        switch personality.tokenCheck {
        case .discord: discordAuthorization(request)
        case .facebook: facebookDebugToken(request)
        case .github: githubToken(request)
        case .google: googleTokenInfo(request)
        case .line: lineVerify(request)
        }
    }

    /// A token that has not expired, and its grant.
    func living(_ token: String?) -> TokenGrant? {
        guard let token, let grant = accessTokens[token], grant.expiresAt.map({ now() < $0 }) ?? true else {
            return nil
        }
        return grant
    }

    private func secondsLeft(_ grant: TokenGrant) -> Int64 {
        grant.expiresAt.map { Int64($0.timeIntervalSince(now()).rounded()) } ?? 0
    }

    /// Google's tokeninfo: numbers and flags are strings.
    private mutating func googleTokenInfo(_ request: RecordedRequest) -> ProviderAnswer {
        guard let grant = living(request.fields["access_token"]) else {
            return ProviderAnswer(400, .json(["error": "invalid_token", "error_description": "Invalid Value"]))
        }
        let left = secondsLeft(grant)
        let end = Int64(now().timeIntervalSince1970) + left
        return ProviderAnswer(
            .json([
                "azp": .string(grant.client), "aud": .string(grant.client), "sub": .string(grant.user.subject),
                "scope": .string(grant.scopes.joined(separator: " ")), "exp": .string(String(end)),
                "expires_in": .string(String(left)), "access_type": "online",
            ])
        )
    }

    /// LINE's verification, which does not name the token's user.
    private mutating func lineVerify(_ request: RecordedRequest) -> ProviderAnswer {
        guard let grant = living(request.fields["access_token"]) else {
            return ProviderAnswer(
                400,
                .json(["error": "invalid_request", "error_description": "access token expired"])
            )
        }
        return ProviderAnswer(
            .json([
                "scope": .string(grant.scopes.joined(separator: " ")), "client_id": .string(grant.client),
                "expires_in": .integer(secondsLeft(grant)),
            ])
        )
    }

    /// Discord's current authorization.
    private mutating func discordAuthorization(_ request: RecordedRequest) -> ProviderAnswer {
        let words = (request.header("authorization") ?? "").split(separator: " ")
        guard words.count == 2, words[0] == "Bearer", let grant = living(String(words[1])) else {
            return ProviderAnswer(401, .json(["message": "401: Unauthorized", "code": 0]))
        }
        return ProviderAnswer(
            .json([
                "application": ["id": .string(grant.client), "name": "An app"],
                "scopes": .array(grant.scopes.map { .string($0) }),
                "user": ["id": .string(grant.user.subject), "username": .string(grant.user.login ?? "somebody")],
            ])
        )
    }

    /// As GitHub reads it: neither id nor secret is form-encoded.
    private func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    /// GitHub's `POST /applications/{client_id}/token`: 404 for the tokens of other clients.
    private mutating func githubToken(_ request: RecordedRequest) -> ProviderAnswer {
        let segments = request.path.split(separator: "/")
        guard request.method == "POST", request.header("content-type") == "application/json",
            let body = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: String]
        else {
            violate(.contentType, .tokenCheck, "\(request.method) without JSON")
            return ProviderAnswer(422, .json(["message": "Invalid request"]))
        }
        guard let id = segments.dropLast().last.map(String.init), let client = clients[id],
            client.secrets.contains(where: { request.header("authorization") == basic(id, $0) })
        else {
            violate(.clientAuthentication, .tokenCheck, "not the client's own credentials")
            return ProviderAnswer(401, .json(["message": "Bad credentials"]))
        }
        guard let token = body["access_token"], let grant = living(token), grant.client == client.id else {
            return ProviderAnswer(404, .json(["message": "Not Found"]))
        }
        return ProviderAnswer(
            .json([
                "id": 1, "app": ["name": "An app", "client_id": .string(client.id)], "token": .string(token),
                "scopes": .array(grant.scopes.map { .string($0) }), "expires_at": .null,
                "user": .object(personality.profile(grant.user, Set(grant.scopes))),
            ])
        )
    }
}
