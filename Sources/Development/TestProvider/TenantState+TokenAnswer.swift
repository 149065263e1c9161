import Foundation
import Secrets
import StrictJSON
import Text

extension TenantState {
    func tokenAnswer(access: String, user: TestUser, scopes: [String]) -> JSONObject {
        var answer: JSONObject = [
            "access_token": .string(access), "token_type": personality.answersForms ? "bearer" : "Bearer",
        ]
        if let lifetime = personality.accessTokenLifetime { answer["expires_in"] = .integer(lifetime) }
        if let separator = personality.grantedScopeSeparator {
            answer["scope"] = .string(scopes.joined(separator: separator))
        }
        return answer.changed(set: personality.tokenMembers(user))
    }

    func reply(_ answer: JSONObject, status: Int = 200, _ request: RecordedRequest) -> ProviderAnswer {
        let wantsJSON = request.header("accept")?.lowercased().contains("json") ?? false
        let body: ProviderAnswer.Body =
            personality.answersForms && !wantsJSON ? .form(answer) : .json(.object(answer))
        return ProviderAnswer(status, headers: [("Cache-Control", "no-store")], body)
    }

    /// - Parameter name: nil for the personality's name of the failure.
    func failure(
        _ failure: ProviderPersonality.TokenFailure,
        named name: String? = nil,
        _ request: RecordedRequest
    ) -> ProviderAnswer {
        let name = name ?? personality.errorName(failure)
        let answer = personality.errorMembers(name)
        guard !personality.reportsErrorsAsOK else { return reply(answer, request) }
        var reply = reply(answer, status: failure == .invalidClient ? 401 : 400, request)
        if failure == .invalidClient { reply.headers.append(("WWW-Authenticate", #"Basic realm="token""#)) }
        return reply
    }

    /// The client, if it authenticates in exactly the way it is registered for.
    mutating func authenticate(_ request: RecordedRequest, _ fields: FormFields) -> TestClient? {
        let basic = basicCredentials(request)
        let posted = fields["client_secret"]
        guard let id = basic?.id ?? fields["client_id"], let client = clients[id] else {
            violate(.unknownClient, request.endpoint, basic?.id ?? fields["client_id"] ?? "no client")
            return nil
        }
        let isRightKind =
            switch client.authentication {
            case .basic: basic != nil && posted == nil
            case .post: basic == nil && posted != nil && request.header("authorization") == nil
            case .basicOrPost: (basic == nil) != (posted == nil)
            case .none: basic == nil && posted == nil
            case .appleSecret: basic == nil && posted != nil
            }
        guard isRightKind, fields["client_id"] == nil || fields["client_id"] == id else {
            violate(.clientAuthentication, request.endpoint, "not by \(client.authentication)")
            return nil
        }
        guard let secret = basic?.secret ?? posted else { return client }
        if case .appleSecret(let key) = client.authentication {
            guard let problem = key.problem(with: secret, client: id, audience: issuer, now: now()) else {
                return client
            }
            violate(.clientAuthentication, request.endpoint, problem)
            return nil
        }
        guard client.secrets.contains(secret) else {
            violate(.clientAuthentication, request.endpoint, "the wrong secret")
            return nil
        }
        return client
    }

    /// RFC 6749 §2.3.1: id and secret are form-encoded before they become Basic credentials, for providers that read it
    /// so.
    private func basicCredentials(_ request: RecordedRequest) -> (id: String, secret: String)? {
        guard let header = request.header("authorization"), header.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))),
            let text = String(validating: data, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        if personality.takesPlainBasic { return (String(text[..<colon]), String(text[text.index(after: colon)...])) }
        guard
            let id = PercentEncoding.decode(text[..<colon], plusIsSpace: true),
            let secret = PercentEncoding.decode(text[text.index(after: colon)...], plusIsSpace: true)
        else { return nil }
        return (id, secret)
    }
}
