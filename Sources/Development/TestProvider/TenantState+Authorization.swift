import Foundation
import Secrets
import Text

extension TenantState {
    /// The authorization endpoint (RFC 6749 §4.1.1, OIDC Core §3.1.2).
    ///
    /// A POST with `choice` is what a person chose on the page: `user` with `subject`, `other` with `email`, `name`,
    /// `screen_name`, `photo_url` and `verified`, `generated` for a made-up account, or `cancel`.
    mutating func authorize(_ request: RecordedRequest) throws -> ProviderAnswer {
        let fields = request.fields
        guard request.method == "GET" || request.method == "POST" else {
            violate(.method, .authorization, request.method)
            return refusal(405, "The authorization endpoint takes GET and POST.")
        }
        // What a browser sends for the page is not the client's doing.
        let isChoice = fields["choice"] != nil
        if !isChoice, let answer = checkEncoding(request) { return answer }

        guard let id = fields["client_id"], let client = clients[id] else {
            violate(.unknownClient, .authorization, fields["client_id"] ?? "no client_id")
            return refusal(400, "The app is not known here.")
        }
        let sent = fields["redirect_uri"]
        let standard = personality.allowsOmittedRedirect ? client.redirects.standard : nil
        guard let redirect = sent ?? standard, client.redirects.accepts(redirect) else {
            violate(.redirectURI, .authorization, sent ?? "no redirect_uri")
            return refusal(400, "The redirect URI is not registered for this app.")
        }
        let mode = fields["response_mode"] ?? (fields.words("response_type").count > 1 ? "fragment" : nil)
        let back = Callback(uri: redirect, state: fields["state"], mode: mode)
        if !isChoice, let failure = checkParameters(fields) {
            return callback(back, [("error", failure.error), ("error_description", failure.description)])
        }
        guard let login = login(for: fields) else {
            guard !fields.words("prompt").contains("none") else {
                return callback(back, [("error", "login_required")])
            }
            return page(fields, client: client, redirect: redirect)
        }
        return try complete(login, request, fields: fields, client: client, back: back)
    }

    /// A choice on the page first, then what the test arranged; nil when a person has to choose.
    mutating func login(for fields: FormFields) -> ScriptedLogin? {
        switch fields["choice"] {
        case "cancel": return ScriptedLogin(TestUser(""), .deny)
        case "user": return users[fields["subject"] ?? ""].map { ScriptedLogin($0) }
        case "other": return otherAccount(fields).map { ScriptedLogin($0) }
        case "generated": return ScriptedLogin(generatedAccount())
        default: return nextLogins.isEmpty ? everyLogin : nextLogins.removeFirst()
        }
    }

    private mutating func complete(
        _ login: ScriptedLogin,
        _ request: RecordedRequest,
        fields: FormFields,
        client: TestClient,
        back: Callback
    ) throws -> ProviderAnswer {
        switch login.decision {
        case .approve: break
        case .deny where !personality.bails: return callback(back, [("error", "access_denied")], login.callback)
        case .deny where fields["bail"] == "1", .bail: return callback(back, [], login.callback)
        case .deny, .denyWithoutReturn:
            return ProviderAnswer(.html("<!doctype html><title>Cancelled</title>Cancelled."))
        case .never: return ProviderAnswer(.html("<!doctype html><title>Sign in</title>Waiting."))
        case .loginRequired: return callback(back, [("error", "login_required")], login.callback)
        case .consentRequired: return callback(back, [("error", "consent_required")], login.callback)
        case .fail(let error, let description):
            let details = description.map { [("error_description", $0)] } ?? []
            return callback(back, [("error", error)] + details, login.callback)
        }
        let consent = Consent(subject: login.user.subject, client: client.id)
        let granted = consents[consent]
        if let error = refusalToAsk(login, fields, hasConsented: granted != nil) {
            return callback(back, [("error", error)], login.callback)
        }
        var scopes = login.grantedScopes ?? fields.words("scope", separator: personality.askedScopeSeparator)
        if scopes.isEmpty, personality.remembersScopes { scopes = (granted ?? []).sorted() }
        consents[consent] = (granted ?? []).union(scopes)
        let code = random.handle()
        let grant = CodeGrant(
            client: client.id,
            user: login.user,
            path: request.path,
            redirectURI: fields["redirect_uri"],
            scopes: scopes,
            nonce: fields["nonce"],
            challenge: fields["code_challenge"],
            authenticatedAt: authenticationTime(login, fields),
            sendsAuthenticationTime: personality.alwaysSendsAuthenticationTime || fields["max_age"] != nil,
            issuesRefreshToken: issuesRefreshToken(fields, scopes: scopes, isFirst: granted == nil),
            idToken: login.idToken,
            expiresAt: now().addingTimeInterval(TimeInterval(personality.codeLifetime))
        )
        codes[code] = grant
        let tokens = try frontChannel(grant, code, fields.words("response_type"), login.frontIDToken)
        let once = granted == nil ? personality.firstCallbackFields(login.user, Set(scopes)) : []
        return callback(back, [("code", code)] + tokens + once, login.callback)
    }

    private func issuesRefreshToken(_ fields: FormFields, scopes: [String], isFirst: Bool) -> Bool {
        switch personality.refreshTokens {
        case .never: false
        case .always: true
        case .withOfflineScope: scopes.contains("offline_access")
        case .withOfflineAccess:
            fields["access_type"] == "offline" && (isFirst || fields.words("prompt").contains("consent"))
        }
    }
}
