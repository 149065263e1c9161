import Foundation
import Text

/// What a personality with hybrid answers does beyond the code flow.
extension TenantState {
    /// The tokens that come beside the code (OIDC Core §3.3.2.5): an access token of its own, which lives half as long as
    /// the token endpoint's, and an ID token that is bound to both.
    mutating func frontChannel(
        _ grant: CodeGrant,
        _ code: String,
        _ responseType: [String],
        _ changes: IDTokenChanges
    ) throws -> [(String, String)] {
        var parameters: [(String, String)] = []
        var access: String?
        if responseType.contains("token") {
            let token = mintAccessToken(user: grant.user, client: grant.client, scopes: grant.scopes)
            access = token
            parameters += [("access_token", token), ("token_type", "Bearer")]
            if let lifetime = personality.accessTokenLifetime { parameters.append(("expires_in", "\(lifetime / 2)")) }
        }
        if responseType.contains("id_token") {
            let token = try mintIDToken(
                user: grant.user,
                client: grant.client,
                scopes: Set(grant.scopes),
                nonce: grant.nonce,
                accessToken: access,
                code: code,
                authenticatedAt: grant.sendsAuthenticationTime ? grant.authenticatedAt : nil,
                changes: changes
            )
            parameters.append(("id_token", token))
        }
        return parameters
    }

    /// The error for a person who would have to sign in or to agree, where `prompt=none` forbids to ask (OIDC Core
    /// §3.1.2.6).
    func refusalToAsk(_ login: ScriptedLogin, _ fields: FormFields, hasConsented: Bool) -> String? {
        guard personality.followsPrompt, fields.words("prompt").contains("none") else { return nil }
        if isTooOld(login, fields) { return "login_required" }
        return hasConsented ? nil : "consent_required"
    }

    /// When the person signed in: now, if the request asks for it anew.
    func authenticationTime(_ login: ScriptedLogin, _ fields: FormFields) -> Date {
        let asksAgain = fields.words("prompt").contains("login") || isTooOld(login, fields)
        return personality.followsPrompt && asksAgain ? now() : login.authenticatedAt ?? now()
    }

    private func isTooOld(_ login: ScriptedLogin, _ fields: FormFields) -> Bool {
        guard let maxAge = fields["max_age"].flatMap({ TimeInterval($0) }), let time = login.authenticatedAt else {
            return false
        }
        return now().timeIntervalSince(time) > maxAge
    }
}
