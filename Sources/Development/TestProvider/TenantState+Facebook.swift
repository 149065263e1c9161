import Crypto
import Foundation
import Secrets
import StrictJSON
import Text

/// Facebook's `appsecret_proof`.
package enum AppSecretProof {
    /// HMAC-SHA256 of an access token under an app's secret, in hexadecimal.
    package static func of(_ token: String, secret: String) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        return [UInt8](HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)).lowercaseHex
    }
}

/// What Facebook has besides OAuth 2.0.
extension TenantState {
    func facebookRefusal(_ code: Int64, _ message: String) -> ProviderAnswer {
        ProviderAnswer(400, .json(["error": ProviderPersonality.facebookError(code: code, message)]))
    }

    /// Nil when the call carries the proof that belongs to its token.
    mutating func checkAppSecretProof(
        _ request: RecordedRequest,
        token: String,
        client: String
    ) -> ProviderAnswer? {
        let proof = FormFields(request.query)["appsecret_proof"]
        let secrets = clients[client]?.secrets ?? []
        guard secrets.contains(where: { AppSecretProof.of(token, secret: $0) == proof }) else {
            violate(.accessToken, request.endpoint, "no appsecret_proof, or another token's")
            return facebookRefusal(100, "Invalid appsecret_proof provided in the API argument")
        }
        return nil
    }

    /// `GET /debug_token`, by an app with its own access token `{id}|{secret}`.
    mutating func facebookDebugToken(_ request: RecordedRequest) -> ProviderAnswer {
        let fields = FormFields(request.query)
        let app = fields["access_token"] ?? ""
        let parts = app.split(separator: "|", maxSplits: 1).map(String.init)
        guard request.method == "GET", parts.count == 2, let client = clients[parts[0]],
            client.secrets.contains(parts[1])
        else {
            violate(.clientAuthentication, .tokenCheck, "not an app's access token")
            return facebookRefusal(190, "Invalid OAuth access token.")
        }
        if let refusal = checkAppSecretProof(request, token: app, client: client.id) { return refusal }
        guard let token = fields["input_token"], let grant = accessTokens[token] else {
            return debugged(["error": ["code": 190, "message": "Invalid"], "is_valid": false, "scopes": []])
        }
        let end = grant.expiresAt.map { Int64($0.timeIntervalSince1970) } ?? 0
        var data: JSONObject = [
            "app_id": .string(grant.client), "type": "USER", "application": "An app", "expires_at": .integer(end),
            "is_valid": .bool(living(token) != nil), "scopes": .array(grant.scopes.map { .string($0) }),
            "user_id": .string(grant.user.subject),
        ]
        if living(token) == nil { data["error"] = ["code": 190, "subcode": 463, "message": "Session has expired"] }
        return debugged(data)
    }

    /// `grant_type=fb_exchange_token`: a token of this app that is still good, for one of 60 days.
    mutating func lengthen(
        _ fields: FormFields,
        _ client: TestClient,
        _ request: RecordedRequest
    ) -> ProviderAnswer {
        guard let grant = living(fields["fb_exchange_token"]), grant.client == client.id else {
            return facebookRefusal(190, "Error validating access token: Session has expired")
        }
        let lifetime: Int64 = 60 * 86_400
        let access = mintAccessToken(user: grant.user, client: client.id, scopes: grant.scopes)
        accessTokens[access]?.expiresAt = now().addingTimeInterval(TimeInterval(lifetime))
        var answer = tokenAnswer(access: access, user: grant.user, scopes: grant.scopes)
        answer["expires_in"] = .integer(lifetime)
        return reply(answer, request)
    }

    private func debugged(_ data: JSONObject) -> ProviderAnswer { ProviderAnswer(["data": .object(data)]) }

    /// `/me` has what the parameter `fields` names, and the id.
    func askedFields(_ profile: JSONObject, _ request: RecordedRequest) -> JSONObject {
        let asked = FormFields(request.query)["fields"] ?? "name"
        let names = Set(asked.split(separator: ",").map(String.init) + ["id"])
        return JSONObject(profile.members.filter { names.contains($0.name) })
    }
}
