import Development
import Domain
import TestKit
import Text

/// A browser that is back from the provider, before the app hands its result to the service.
struct Arrival: Sendable {
    /// The URL that the provider sent the browser to; what it posted there stands in the query, as an app may pass it on.
    var callback: String
    var sessionID: String
    var authURI: String
    var reply: Reply

    /// The parameters of the callback: of its fragment when it has no query.
    var fields: FormFields { FormFields(URLParts(callback).flatMap { $0.query ?? $0.fragment } ?? "") }
    var isFragment: Bool { URLParts(callback)?.query == nil && callback.contains("#") }
    /// The parameters of the authorization request.
    var request: FormFields { FormFields(URLParts(authURI)?.query ?? "") }
    var address: String { String(callback.prefix { $0 != "?" && $0 != "#" }) }

    /// The same callback with a parameter replaced, or removed when `value` is nil.
    func with(_ name: String, _ value: String?) -> Arrival {
        var pairs = fields.pairs.map { ($0.name, $0.value) }.filter { $0.0 != name }
        if let value { pairs.append((name, value)) }
        var changed = self
        changed.callback = address + (isFragment ? "#" : "?") + FormFields(pairs: pairs).text
        return changed
    }
}

extension ProviderScene {
    /// Starts a sign-in and goes through the provider's page, up to the callback.
    func arrive(
        at continueURI: String = "http://localhost/callback",
        as provider: ProviderID? = nil,
        _ start: JSON = [:]
    ) async throws -> Arrival {
        let flow = try await service.startFlow(through: provider ?? self.provider, continueURI: continueURI, start)
        secrets.add(from: flow.reply)
        let visit = try await ScriptedBrowser().open(flow.authURI, until: [continueURI])
        let arrival = Arrival(
            callback: visit.posted.map { visit.url + "?" + $0.text } ?? visit.url,
            sessionID: flow.sessionID,
            authURI: flow.authURI,
            reply: flow.reply
        )
        secrets.add(arrival.fields["code"], arrival.fields["state"], arrival.fields["id_token"])
        secrets.add(arrival.fields["access_token"], arrival.fields["oauth_verifier"])
        return arrival
    }

    /// Hands a callback to the service.
    @discardableResult
    func finish(_ arrival: Arrival, idToken: String? = nil, _ more: JSON = [:]) async throws -> Reply {
        let reply = try await service.finishFlow(
            at: arrival.callback,
            sessionID: arrival.sessionID,
            idToken: idToken,
            more
        )
        secrets.add(from: reply)
        return reply
    }

    @discardableResult
    func signIn(_ start: JSON = [:], _ more: JSON = [:]) async throws -> Reply {
        try await finish(arrive(start), more)
    }

    /// Signs in with an access token alone that the app got by itself.
    func signIn(accessToken: String) async throws -> Reply {
        secrets.add(accessToken)
        let fields = [("access_token", accessToken), ("providerId", provider.rawValue)]
        let reply = try await service.signInWithIdP(postBody: FormFields(pairs: fields).text)
        secrets.add(from: reply)
        return reply
    }

    /// Signs in with a token that the app got by itself.
    func signIn(idToken: String, nonce: String? = nil, provider: ProviderID? = nil) async throws -> Reply {
        var fields = [("id_token", idToken), ("providerId", (provider ?? self.provider).rawValue)]
        if let nonce { fields.append(("nonce", nonce)) }
        secrets.add(idToken, nonce)
        let reply = try await service.signInWithIdP(postBody: FormFields(pairs: fields).text)
        secrets.add(from: reply)
        return reply
    }
}
