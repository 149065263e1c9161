import Foundation
import Secrets
import StrictJSON
import Text

/// The state of an OAuth 1.0a tenant.
struct OAuth1State {
    /// By request token.
    var requests: [String: Pending] = [:]
    /// Secrets of access tokens.
    var secrets: [String: String] = [:]
    /// Client, timestamp and nonce of earlier requests.
    var seen: Set<[String]> = []

    struct Pending {
        var client: String
        var secret: String
        var callback: String
        /// Set once the user has agreed.
        var user: TestUser?
        var verifier: String?
        var isUsed = false
    }
}

/// RFC 5849, enforced strictly.
extension TenantState {
    mutating func answerOAuth1(_ request: RecordedRequest) -> ProviderAnswer {
        switch request.endpoint {
        case .requestToken: requestToken(request)
        case .authorization: authenticate(request)
        case .token: exchangeVerifier(request)
        case .userinfo: verifyCredentials(request)
        case .discovery, .keys, .publicKeys, .emails, .revocation, .tokenCheck: ProviderAnswer(404, .empty)
        }
    }

    private mutating func requestToken(_ request: RecordedRequest) -> ProviderAnswer {
        guard request.method == "POST", let (signed, client) = verify(request, tokenSecret: { _ in "" }) else {
            return oauth1Refusal(401, 32, "Could not authenticate you.")
        }
        guard let callback = signed["callback"], client.redirects.accepts(String(callback.prefix { $0 != "?" })) else {
            violate(.redirectURI, .requestToken, signed["callback"] ?? "no oauth_callback")
            return oauth1Refusal(403, 415, "Callback URL not approved for this client application.")
        }
        if FormFields(URLParts(callback)?.query ?? "")["state"] == nil {
            violate(.state, .requestToken, "no state in the callback")
        }
        let (token, secret) = (random.handle(), random.handle())
        oauth1.requests[token] = OAuth1State.Pending(client: client.id, secret: secret, callback: callback)
        return ProviderAnswer(
            .form([
                "oauth_token": .string(token), "oauth_token_secret": .string(secret),
                "oauth_callback_confirmed": "true",
            ])
        )
    }

    /// The page shown to the user; it takes the request token instead of a client and redirect URI.
    private mutating func authenticate(_ request: RecordedRequest) -> ProviderAnswer {
        let fields = request.fields
        if fields["choice"] == nil, let answer = checkEncoding(request) { return answer }
        guard let token = fields["oauth_token"], var pending = oauth1.requests[token], pending.user == nil,
            let client = clients[pending.client]
        else {
            violate(.unknownCode, .authorization, "the request token is unknown or was used")
            return refusal(401, "There is no request token for this page.")
        }
        guard let login = login(for: fields) else { return page(fields, client: client, redirect: pending.callback) }
        let back = Callback(uri: pending.callback, state: nil, mode: nil)
        switch login.decision {
        case .approve: break
        case .bail: return callback(back, [], login.callback)
        case .denyWithoutReturn, .never: return ProviderAnswer(.html("<!doctype html><title>Waiting</title>Waiting."))
        case .deny, .loginRequired, .consentRequired, .fail:
            return callback(back, [("denied", token)], login.callback)
        }
        let verifier = random.handle()
        pending.user = login.user
        pending.verifier = verifier
        oauth1.requests[token] = pending
        return callback(back, [("oauth_token", token), ("oauth_verifier", verifier)], login.callback)
    }

    private mutating func exchangeVerifier(_ request: RecordedRequest) -> ProviderAnswer {
        let secrets = oauth1.requests.mapValues(\.secret)
        guard request.method == "POST", let (signed, client) = verify(request, tokenSecret: { secrets[$0] }),
            let token = signed["token"], let pending = oauth1.requests[token]
        else { return oauth1Refusal(401, 32, "Could not authenticate you.") }
        let refused = oauth1Refusal(401, 89, "Invalid or expired token.")
        guard pending.client == client.id else {
            violate(.codeBinding, .token, "the request token belongs to another client")
            return refused
        }
        guard let user = pending.user, let verifier = pending.verifier, signed["verifier"] == verifier else {
            violate(.unknownCode, .token, "the wrong verifier, or none")
            return refused
        }
        guard !pending.isUsed else {
            violate(.codeReuse, .token, "the verifier was used before")
            return refused
        }
        oauth1.requests[token]?.isUsed = true
        let (access, secret) = mintOAuth1Token(user: user, client: client.id)
        return ProviderAnswer(
            .form([
                "oauth_token": .string(access), "oauth_token_secret": .string(secret),
                "user_id": .string(user.subject), "screen_name": .string(user.login ?? ""),
            ])
        )
    }

    private mutating func verifyCredentials(_ request: RecordedRequest) -> ProviderAnswer {
        let secrets = oauth1.secrets
        guard let (signed, client) = verify(request, tokenSecret: { secrets[$0] }), let token = signed["token"],
            let grant = living(token), grant.client == client.id
        else { return oauth1Refusal(401, 89, "Invalid or expired token.") }
        let asksForAddress = FormFields(request.query)["include_email"] == "true"
        return ProviderAnswer(personality.profile(grant.user, asksForAddress ? ["email"] : []))
    }

    mutating func mintOAuth1Token(user: TestUser, client: String) -> (token: String, secret: String) {
        let token = mintAccessToken(user: user, client: client, scopes: [])
        let secret = random.handle()
        oauth1.secrets[token] = secret
        return (token, secret)
    }

    /// RFC 5849 §3.2: the client, if its request is complete, new, and correctly signed.
    ///
    /// - Parameter tokenSecret: nil for a token that was never issued.
    private mutating func verify(
        _ request: RecordedRequest,
        tokenSecret: (String) -> String?
    ) -> (OAuth1Request, TestClient)? {
        guard let signed = OAuth1Request(request), let id = signed["consumer_key"], let client = clients[id] else {
            violate(.unknownClient, request.endpoint, "no signed request of a known client")
            return nil
        }
        guard signed["signature_method"] == "HMAC-SHA1", signed["version"].map({ $0 == "1.0" }) ?? true else {
            violate(.signature, request.endpoint, "another method or version")
            return nil
        }
        guard let timestamp = signed["timestamp"], let time = Double(timestamp),
            abs(time - now().timeIntervalSince1970) <= 300
        else {
            violate(.timestamp, request.endpoint, signed["timestamp"] ?? "none")
            return nil
        }
        guard let nonce = signed["nonce"], !nonce.isEmpty,
            oauth1.seen.insert([id, signed["token"] ?? "", timestamp, nonce]).inserted
        else {
            violate(.nonce, request.endpoint, "the nonce was used, or there is none")
            return nil
        }
        // A client that was handed a token that was never issued made no mistake.
        guard let secret = signed["token"].map(tokenSecret) ?? "" else { return nil }
        let origin = URLParts(base)?.origin ?? ""
        guard client.secrets.contains(where: { signed.isSigned(origin: origin, secret: $0, tokenSecret: secret) })
        else {
            violate(.signature, request.endpoint, "the signature does not fit")
            return nil
        }
        return (signed, client)
    }

    private func oauth1Refusal(_ status: Int, _ code: Int64, _ message: String) -> ProviderAnswer {
        ProviderAnswer(status, .json(["errors": [["code": .integer(code), "message": .string(message)]]]))
    }
}
